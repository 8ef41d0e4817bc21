import type { PageAnswer, PageResponse } from '../../domain/search/search-response.ts'
import type { Kind } from '../../domain/wire/vocabulary.ts'

/** Our own kits that match have no price and no score. */
export interface OwnRow {
  id: string
  name: string
  kind: Kind
  summary: string
}

/** A result as a compact answer has it, so that typing and submitting show the same. */
export interface SearchRow extends OwnRow {
  price: { min_usd: number; max_usd: number } | null
  rails: readonly string[]
  trust: number | null
  /** Beside a score: false where nobody vouches for its buyers. */
  vouched?: boolean | undefined
  /** The domain that somebody registered for it; absent where it is nobody's own. */
  domain?: string | undefined
  /** The operation, tool or skill that matches best. */
  operation?: string | undefined
}

/** What the search page prints of an answer of the search function. */
export interface SearchResults {
  kind: 'results'
  total: number
  offset: number
  rows: readonly SearchRow[]
  own: readonly OwnRow[]
  /** What the words were taken for. */
  notes: readonly string[]
  facets: Readonly<Record<string, readonly { id: string; count: number }[] | undefined>>
}

export type SearchAnswer =
  | SearchResults
  | { kind: 'refused'; reasons: string[] }
  /** No function serves this page: a copy of the static files alone. */
  | { kind: 'unavailable' }

export function toResults(answer: PageResponse): SearchResults {
  const { total, query, results: rows, notes, facets = {}, featured_first_party: own = [] } = answer
  return { kind: 'results', total, offset: query.offset, rows, own, notes, facets }
}

/** @param answer what `createPageSearch` gives; undefined where no function stands */
export function toSearchAnswer(answer: PageAnswer | undefined): SearchAnswer {
  if (answer === undefined) return { kind: 'unavailable' }
  if (!('problems' in answer)) return toResults(answer)
  return {
    kind: 'refused',
    reasons: answer.problems.map(({ name, detail }) => `${name}: ${detail}`),
  }
}
