import { type ParameterProblem, parseSearchParameters } from '../src/domain/search-parameters.ts'
import { readId } from '../src/search/index-rows.ts'
import type { SearchIndex } from '../src/search/loaded-index.ts'
import { searchIndex } from '../src/search/search-index.ts'
import { type AnsweredQuery, createAnsweredQueries } from './search/answered-queries.ts'
import { type SearchTexts, writeSearchResponse } from './search/write-search-response.ts'

export interface SearchParts {
  /** The index being served right now; asked for once a request, so that a swap is atomic. */
  index: () => SearchIndex
  texts: () => SearchTexts
  randomUuid: () => string
  /** Told which organic listings a search showed; it must not slow the search down. */
  onShown?: (listingIds: readonly string[]) => void
  /** How many answered queries are remembered; 0 searches each time. */
  remembered?: number
}

export type SearchReply =
  | { status: 200; headers: Readonly<Record<string, string>>; body: Uint8Array<ArrayBuffer> }
  | { status: 400; problems: readonly ParameterProblem[] }

const HEADERS = {
  'Content-Type': 'application/json',
  'Cache-Control': 'no-store',
  'Access-Control-Allow-Origin': '*',
  'X-Content-Type-Options': 'nosniff',
} as const

/**
 * `GET /api/v1/search` without a framework: the raw text behind `?` in, a reply out. Wrong
 * parameters come back as `problems` for the one formatter of errors (`invalid-parameter`).
 */
export function createSearch({ index, texts, randomUuid, onShown, remembered }: SearchParts) {
  const answeredQueries = createAnsweredQueries(remembered)
  return function search(rawQuery: string): SearchReply {
    const serving = index()
    const known = answeredQueries.find(serving, rawQuery)
    const answered = known ?? answer(serving, rawQuery)
    if ('problems' in answered) return { status: 400, problems: answered.problems }
    if (known === undefined) answeredQueries.keep(serving, rawQuery, answered)
    const { query, outcome, shown } = answered
    const input = { index: serving, searchId: randomUuid(), query, outcome, texts: texts() }
    const body = writeSearchResponse(input)
    onShown?.(shown)
    return { status: 200, headers: HEADERS, body }
  }
}

function answer(
  index: SearchIndex,
  rawQuery: string,
): AnsweredQuery | { problems: readonly ParameterProblem[] } {
  const parsed = parseSearchParameters(rawQuery, index.filters)
  if ('problems' in parsed) return parsed
  const outcome = searchIndex(index, parsed.query)
  const shown = outcome.organic.rows.map(({ row }) => readId(index, 'organic', row))
  return { query: parsed.query, outcome, shown }
}
