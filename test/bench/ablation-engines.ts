import { createFindOperations } from '../../functions/search/find-operations.ts'
import type { SearchWords } from '../../src/domain/derived/query-words.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex, readId } from '../../src/search/index/load-index.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { NOW } from '../tasks/judge-deeds.ts'

/** Our searches as `relevance-ablation.ts` asks them: it loads this file once for each mechanism, without it. */
export function createEngine(documents: readonly SearchDocument[], words: SearchWords) {
  const index = loadSearchIndex(buildSearchIndex(documents, { words }))
  const find = (q: string, limit: number) => searchIndex(index, { q, limit, offset: 0 })
  return {
    rank: (q: string) => find(q, 50).organic.rows.map(({ row }) => readId(index, row)),
    first: (q: string) => find(q, 1).organic.rows.map(({ row }) => readId(index, row))[0],
    notes: (q: string) => find(q, 1).notes,
  }
}

export function createOperationsEngine(documents: readonly SearchDocument[], words: SearchWords) {
  const built = buildSearchIndex(documents, { noun: 'operation', words })
  const operations = loadSearchIndex(built)
  return createFindOperations({ release: () => ({ operations }), clock: { now: () => NOW } })
}
