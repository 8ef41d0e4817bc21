import type { SearchQuery } from '../../src/domain/search/search-query.ts'
import type { SearchIndex } from '../../src/search/index/index-shape.ts'
import type { SearchOutcome } from '../../src/search/query/search-index.ts'

/** A query that was answered: what it was read as, which rows it found. */
export interface AnsweredQuery {
  query: SearchQuery
  outcome: SearchOutcome
}

/** Queries remembered for one index: a few megabytes at most. */
export const REMEMBERED_QUERIES = 2000

/** Agents that ask the same thing ask it in few words; longer texts are not worth the room. */
const MAX_REMEMBERED_CHARACTERS = 256

export interface AnsweredQueries {
  find(index: SearchIndex, rawQuery: string): AnsweredQuery | undefined
  keep(index: SearchIndex, rawQuery: string, answered: AnsweredQuery): void
}

/**
 * Remembers what was answered to the queries asked most. An index never changes, so nothing here
 * can be stale; another index forgets everything.
 *
 * @param most how many are remembered; the least recently asked leave first. 0 remembers none.
 */
export function createAnsweredQueries(most = REMEMBERED_QUERIES): AnsweredQueries {
  let of: SearchIndex | undefined
  let remembered = new Map<string, AnsweredQuery>()
  return {
    find(index, rawQuery) {
      if (index !== of) return undefined
      const answered = remembered.get(rawQuery)
      if (answered === undefined) return undefined
      remembered.delete(rawQuery)
      remembered.set(rawQuery, answered)
      return answered
    },
    keep(index, rawQuery, answered) {
      if (rawQuery.length > MAX_REMEMBERED_CHARACTERS || most === 0) return
      if (index !== of) remembered = new Map()
      of = index
      remembered.set(rawQuery, answered)
      if (remembered.size <= most) return
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    },
  }
}
