import type { DumpFacts } from '../../domain/views/stats-view.ts'
import { ROUTES } from '../../domain/wire/route-table.ts'
import type { BuildCache } from '../files/build-cache.ts'
import type { ReleaseFiles } from '../files/release-files.ts'
import { digestOf } from '../files/release-writer.ts'
import { writeLines } from './write-lines.ts'

/**
 * Every listing in one file: what `/api/v1/listings/<id>` answers, a line each, sorted by id.
 *
 * @param lines JSON of the listings, in the same order
 */
export function writeDump(
  files: Pick<ReleaseFiles, 'begin'>,
  listings: readonly { id: string }[],
  lines: readonly Uint8Array[],
  cache?: BuildCache,
): DumpFacts {
  const urls = { ndjson: ROUTES.listings_dump.path, gz: ROUTES.listings_dump_gz.path }
  return writeLines(files, urls, groupLines(listings, lines), cache)
}

/**
 * The lines in groups of 64 on average. A group ends where an id says so, so that a listing that comes
 * or goes changes one group, and a store gets that one alone.
 */
function* groupLines(
  listings: readonly { id: string }[],
  lines: readonly Uint8Array[],
): Generator<Uint8Array> {
  let from = 0
  for (const [place, { id }] of listings.entries()) {
    if (Number.parseInt(digestOf(id, 2), 16) % 64 > 0 && place < lines.length - 1) continue
    yield Buffer.concat(lines.slice(from, place + 1))
    from = place + 1
  }
}
