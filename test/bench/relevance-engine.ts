import type { SearchWords } from '../../src/domain/derived/query-words.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex, readId } from '../../src/search/index/load-index.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'

/** Ids of the best listings for a query, best first. */
export type RankIds = (q: string) => readonly string[]

/** Our own engine over a corpus. */
export function createOwnEngine(corpus: readonly SearchDocument[], words: SearchWords): RankIds {
  const index = loadSearchIndex(buildSearchIndex(corpus, { words }))
  return (q) => {
    const { organic } = searchIndex(index, { q, limit: 50, offset: 0 })
    return organic.rows.map(({ row }) => readId(index, row))
  }
}
