import { type ParameterProblem, parseSearchParameters } from '../src/domain/search-parameters.ts'
import { readId } from '../src/search/index-rows.ts'
import type { SearchIndex } from '../src/search/loaded-index.ts'
import { searchIndex } from '../src/search/search-index.ts'
import { type SearchTexts, writeSearchResponse } from './search/write-search-response.ts'

export interface SearchParts {
  /** The index being served right now; asked for once a request, so that a swap is atomic. */
  index: () => SearchIndex
  texts: () => SearchTexts
  randomUuid: () => string
  /** Told which organic listings a search showed; it must not slow the search down. */
  onShown?: (listingIds: readonly string[]) => void
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
export function createSearch({ index, texts, randomUuid, onShown }: SearchParts) {
  return function search(rawQuery: string): SearchReply {
    const serving = index()
    const parsed = parseSearchParameters(rawQuery, serving.filters)
    if ('problems' in parsed) return { status: 400, problems: parsed.problems }
    const outcome = searchIndex(serving, parsed.query)
    const body = writeSearchResponse({
      index: serving,
      searchId: randomUuid(),
      query: parsed.query,
      outcome,
      texts: texts(),
    })
    onShown?.(outcome.organic.rows.map(({ row }) => readId(serving, 'organic', row)))
    return { status: 200, headers: HEADERS, body }
  }
}
