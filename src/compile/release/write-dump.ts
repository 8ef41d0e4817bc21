import { ROUTES } from '../../domain/wire/route-table.ts'
import type { BuildCache } from '../files/build-cache.ts'
import type { ReleaseFiles } from '../files/release-files.ts'
import { beginLines } from './write-lines.ts'

/**
 * Begins the file of every listing: the answers of `/api/v1/listings/<id>`, one per line, sorted by
 * id. It gets the lines of a group at a time, so that a store only gets changed groups.
 */
export function beginDump(files: Pick<ReleaseFiles, 'begin'>, cache?: BuildCache) {
  const urls = { ndjson: ROUTES.listings_dump.path, gz: ROUTES.listings_dump_gz.path }
  return beginLines(files, urls, cache)
}
