import { parseSearchParameters } from '../../src/domain/search/search-parameters.ts'
import { readId } from '../../src/search/index/index-rows.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import type { Parts } from '../parts/parts.ts'

/** A search is watched as far as people read it. */
const WATCHED_RESULTS = 50

/** Ids that people find first with a search; none for a query that fits this release no more. */
export function findWatched({ release }: Pick<Parts, 'release'>, query: string): string[] {
  const index = release().search
  const parsed = parseSearchParameters(query, index.filters)
  if ('problems' in parsed) return []
  const asked = { ...parsed.query, offset: 0, limit: WATCHED_RESULTS }
  return searchIndex(index, asked).organic.rows.map((row) => readId(index, 'organic', row.row))
}
