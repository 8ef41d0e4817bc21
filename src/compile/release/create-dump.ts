import { constants, crc32, deflateRawSync } from 'node:zlib'
import type { DumpFacts } from '../../domain/views/stats-view.ts'
import { ROUTES } from '../../domain/wire/route-table.ts'
import { GZIP_LEVEL } from '../../store/compress.ts'
import { type BuildCache, memoize, noCache } from '../files/build-cache.ts'
import { digestOf, type ReleaseWriter } from '../files/release-writer.ts'

/** Every listing in one file: what `/api/v1/listings/<id>` answers, a line each, sorted by id. */
export interface Dump {
  plain: Uint8Array
  gz: Uint8Array
  facts: DumpFacts
}

/**
 * @param listings with the JSON of each, in the same order
 * @param cache of what lines were compressed to
 */
export function createDump(
  listings: readonly { id: string }[],
  lines: readonly Uint8Array[],
  cache = noCache(),
): Dump {
  const plain = Buffer.concat(lines)
  const gz = gzipInParts(groupLines(listings, lines), plain, cache)
  return {
    plain,
    gz,
    facts: {
      ndjson: describeDump(ROUTES.listings_dump.path, plain),
      gz: describeDump(ROUTES.listings_dump_gz.path, gz),
    },
  }
}

export function describeDump(url: string, bytes: Uint8Array) {
  return { url, bytes: bytes.length, sha256: digestOf(bytes, 64) }
}

/**
 * The lines in groups of 64 on average. A group ends where an id says so, so that a listing that comes
 * or goes changes one group, and a store gets that one alone.
 */
function groupLines(
  listings: readonly { id: string }[],
  lines: readonly Uint8Array[],
): Uint8Array[] {
  const groups: Uint8Array[] = []
  let from = 0
  for (const [place, { id }] of listings.entries()) {
    if (Number.parseInt(digestOf(id, 2), 16) % 64 > 0 && place < lines.length - 1) continue
    groups.push(Buffer.concat(lines.slice(from, place + 1)))
    from = place + 1
  }
  return groups
}

/** RFC 1952: magic, deflate, no flags, no time, written on Unix. */
const GZIP_HEADER = Uint8Array.of(0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3)
/** A last block that holds nothing, in fixed codes. */
const LAST_BLOCK = Uint8Array.of(3, 0)

/** One gzip file whose parts know nothing of each other: a changed part leaves the others as they are. */
export function gzipInParts(
  parts: readonly Uint8Array[],
  plain: Uint8Array,
  cache: BuildCache,
): Uint8Array {
  const options = { level: GZIP_LEVEL, finishFlush: constants.Z_FULL_FLUSH }
  const ending = Buffer.alloc(8)
  ending.writeUInt32LE(crc32(plain), 0)
  ending.writeUInt32LE(plain.length % 2 ** 32, 4)
  const deflated = parts.map((part) => memoize(cache, part, () => deflateRawSync(part, options)))
  return Buffer.concat([GZIP_HEADER, ...deflated, LAST_BLOCK, ending])
}

/** Beside each other: the second is also what a client gets that takes gzip and asks for the first. */
export function writeDump(writer: ReleaseWriter, { plain, gz }: Dump): void {
  writer.write(ROUTES.listings_dump.path.slice(1), plain)
  writer.write(ROUTES.listings_dump_gz.path.slice(1), gz)
}
