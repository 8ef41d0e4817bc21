import type { LogHead } from '../../src/domain/changes/change-log.ts'
import { parseSearchParameters } from '../../src/domain/search/search-parameters.ts'
import { readId } from '../../src/search/index/index-rows.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { objectPath } from '../../src/store/objects.ts'
import { readReleaseList } from '../../src/store/release-list.ts'
import { openSearchIndex } from '../release/open-index.ts'

/** A search is watched as far down as people read it. */
const WATCHED_RESULTS = 50

/** Ids that a search finds first; none for a query that no longer fits this release. */
export function findWatched(index: SearchIndex, query: string): string[] {
  const parsed = parseSearchParameters(query, index.filters)
  if ('problems' in parsed) return []
  const asked = { ...parsed.query, offset: 0, limit: WATCHED_RESULTS }
  return searchIndex(index, asked).organic.rows.map((row) => readId(index, 'organic', row.row))
}

/** The index of the previous release: only it knows which searches found a removed listing. */
export function openEarlier(outDir: string, { before }: LogHead): SearchIndex | null {
  if (before === null) return null
  try {
    const list = readReleaseList(outDir, before.release)
    const index = list.find(({ path }) => path === 'data/search.index')
    return index === undefined ? null : openSearchIndex(objectPath(outDir, index.digest))
  } catch {
    // It may have been deleted, or be of another version: then this cannot be known any more.
    return null
  }
}
