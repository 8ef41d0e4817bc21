import type { SearchQuery } from '../../src/domain/search/search-parameters.ts'
import {
  type ParameterProblem,
  parseSearchParameters,
} from '../../src/domain/search/search-parameters.ts'
import type { PageResponse } from '../../src/domain/search/search-response.ts'
import type { SearchIndex } from '../../src/search/index/index-file.ts'
import { hashText } from '../../src/search/index/terms.ts'
import type { RankedRow } from '../../src/search/query/rank-rows.ts'
import { type SearchOutcome, searchIndex } from '../../src/search/query/search-index.ts'
import { ANY_ORIGIN, UNCACHED } from '../http/answers.ts'
import type { SearchTexts } from '../release/prepare-texts.ts'
import { writeSearchResponse } from './search-response.ts'

/** Queries remembered for one index: a few megabytes at most. */
const REMEMBERED_QUERIES = 2000
/** Hashes of recent queries: most are made once, and those are not worth keeping. */
const REQUESTED_ONCE = 2 ** 14

/** Agents repeat only short queries; longer texts are not worth the memory. */
const MAX_REMEMBERED_CHARACTERS = 256

interface SearchParts {
  /** The current index; read once per request, so that a swap is atomic. */
  index: () => SearchIndex
  /** Prepared over that index. */
  texts: () => SearchTexts
  /** Additional members of the search page's rows; absent on hosts without that page. */
  pageMembers?: (index: SearchIndex, answered: AnsweredQuery) => PageMembers[]
  /** The hint for a text that is an address without a listing. */
  noteOn?: (index: SearchIndex, text: string) => string | null
  randomUuid: () => string
  /** Called with the organic rows a search showed; it must not slow the search down. */
  onShown?: (index: SearchIndex, rows: readonly RankedRow[]) => void
  /** How many answered queries are cached; 0 searches each time. */
  remembered?: number
}

export type SearchReply =
  | { status: 200; headers: Readonly<Record<string, string>>; body: Uint8Array<ArrayBuffer> }
  | { status: 400; problems: readonly ParameterProblem[] }

export type Search = (rawQuery: string, options?: SearchOptions) => SearchReply

export interface SearchOptions {
  /** From the search page, whose rows show more: submitted, or uncounted while somebody types. */
  page?: 'submitted' | 'typing' | undefined
}

export const HEADERS = {
  ...UNCACHED,
  ...ANY_ORIGIN,
  'Content-Type': 'application/json',
} as const

/**
 * `GET /api/v1/search` without a framework: the raw text after `?` in, a reply out. Wrong
 * parameters come back as `problems` for the one formatter of errors (`invalid-parameter`).
 */
export function createSearch(parts: SearchParts): Search {
  const { index, randomUuid, onShown, remembered } = parts
  const answeredQueries = createAnsweredQueries(remembered)
  return function search(rawQuery, { page } = {}) {
    const serving = index()
    const known = answeredQueries.find(serving, rawQuery)
    const answered = known ?? answer(serving, rawQuery, parts.noteOn)
    if ('problems' in answered) return { status: 400, problems: answered.problems }
    if (known === undefined) answeredQueries.keep(serving, rawQuery, answered)
    const body = writeSearchResponse({
      ...answered,
      index: serving,
      searchId: randomUuid(),
      texts: parts.texts(),
      ...(page !== undefined && {
        source: 'web' as const,
        page: parts.pageMembers?.(serving, answered) ?? [],
      }),
    })
    if (page !== 'typing') onShown?.(serving, answered.outcome.organic.rows)
    return { status: 200, headers: HEADERS, body }
  }
}

function answer(
  index: SearchIndex,
  rawQuery: string,
  noteOn: SearchParts['noteOn'],
): AnsweredQuery | { problems: readonly ParameterProblem[] } {
  const parsed = parseSearchParameters(rawQuery, index.filters)
  if ('problems' in parsed) return parsed
  const { query } = parsed
  const outcome = searchIndex(index, query)
  const note = query.q === undefined ? null : (noteOn?.(index, query.q) ?? null)
  return note === null
    ? { query, outcome }
    : { query, outcome: { ...outcome, notes: [note, ...outcome.notes] } }
}

export type PageMembers = Pick<PageResponse['results'][number], 'mark' | 'domain' | 'operation'>

/** An answered query: how it was understood, which rows it found. */
export interface AnsweredQuery {
  query: SearchQuery
  outcome: SearchOutcome
}

/**
 * Caches the answers to frequent queries, from the second time on. An index never changes, so
 * nothing here can be stale; a new index clears everything.
 *
 * @param most how many are cached; the least recently used are dropped first. 0 caches none.
 */
function createAnsweredQueries(most = REMEMBERED_QUERIES) {
  let of: SearchIndex | undefined
  let remembered = new Map<string, AnsweredQuery>()
  const requestedOnce = new Uint32Array(REQUESTED_ONCE)
  return {
    find(index: SearchIndex, rawQuery: string): AnsweredQuery | undefined {
      if (index !== of) return undefined
      const answered = remembered.get(rawQuery)
      if (answered === undefined) return undefined
      remembered.delete(rawQuery)
      remembered.set(rawQuery, answered)
      return answered
    },
    keep(index: SearchIndex, rawQuery: string, answered: AnsweredQuery): void {
      if (rawQuery.length > MAX_REMEMBERED_CHARACTERS || most === 0) return
      const hash = hashText(rawQuery)
      const isSecond = requestedOnce[hash % REQUESTED_ONCE] === hash
      requestedOnce[hash % REQUESTED_ONCE] = hash
      if (!isSecond) return
      if (index !== of) remembered = new Map()
      of = index
      remembered.set(rawQuery, answered)
      if (remembered.size <= most) return
      const [oldest] = remembered.keys()
      if (oldest !== undefined) remembered.delete(oldest)
    },
  }
}
