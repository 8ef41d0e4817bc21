import type { PageAnswer, PageResponse } from '../../domain/search/search-response.ts'

type FoundRow = PageResponse['results'][number]

/** Our own kits that match have no price and no score. */
export type OwnRow = Pick<FoundRow, 'id' | 'name' | 'kind' | 'summary'>

/** A result as a compact answer has it, so that typing and submitting show the same. */
export interface SearchRow extends Omit<FoundRow, 'auth' | 'call' | 'explain' | 'rails'> {
  rails: readonly string[]
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
  /** Searches that notes name, each with how many results it has. */
  suggested?: PageResponse['suggested']
  facets: Readonly<Record<string, readonly { id: string; count: number }[] | undefined>>
}

export type SearchAnswer =
  | SearchResults
  | { kind: 'refused'; reasons: string[] }
  /** No function serves this page: a copy of the static files alone. */
  | { kind: 'unavailable' }

export function toResults(answer: PageResponse): SearchResults {
  const {
    total,
    query,
    results: rows,
    notes,
    suggested,
    facets = {},
    featured_first_party: own = [],
  } = answer
  return { kind: 'results', total, offset: query.offset, rows, own, notes, suggested, facets }
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
