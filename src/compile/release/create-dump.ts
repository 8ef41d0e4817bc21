import { gzipSync } from 'node:zlib'
import type { CompiledListing } from '../../compiled.ts'
import type { DumpFacts } from '../../domain/views/stats-view.ts'
import { ROUTES } from '../../domain/wire/route-table.ts'
import { GZIP_LEVEL } from '../files/compress-files.ts'
import { digestOf, type ReleaseWriter } from '../files/release-writer.ts'

/** Every listing in one file: what `/api/v1/listings/<id>` answers, a line each, sorted by id. */
export interface Dump {
  /** In the order of the listings, each with its end of line. */
  lines: string[]
  plain: Uint8Array
  gz: Uint8Array
  facts: DumpFacts
}

export function createDump(listings: readonly CompiledListing[]): Dump {
  const lines = listings.map(({ view }) => `${JSON.stringify(view)}\n`)
  const plain = Buffer.from(lines.join(''))
  const gz = gzipSync(plain, { level: GZIP_LEVEL })
  const describe = (url: string, bytes: Uint8Array) => ({
    url,
    bytes: bytes.length,
    sha256: digestOf(bytes, 64),
  })
  return {
    lines,
    plain,
    gz,
    facts: {
      ndjson: describe(ROUTES.listings_dump.path, plain),
      gz: describe(ROUTES.listings_dump_gz.path, gz),
    },
  }
}

/** Beside each other: the second is also what a client gets that takes gzip and asks for the first. */
export function writeDump(writer: ReleaseWriter, { plain, gz }: Omit<Dump, 'lines'>): void {
  writer.write(ROUTES.listings_dump.path.slice(1), plain)
  writer.write(ROUTES.listings_dump_gz.path.slice(1), gz)
}
