import type { PageAnswer, PageResponse } from '../../domain/search/search-response.ts'

type FoundRow = PageResponse['results'][number]

/** Our own kits that match have no price and no score. */
export type OwnRow = Pick<FoundRow, 'id' | 'name' | 'kind' | 'summary'>

/** A result in the form of a compact answer, so that typing and submitting show the same. */
export interface SearchRow extends Omit<FoundRow, 'auth' | 'call' | 'explain' | 'rails'> {
  rails: readonly string[]
}

/** The parts of the search function's answer that the search page prints. */
export interface SearchResults {
  kind: 'results'
  total: number
  offset: number
  rows: readonly SearchRow[]
  own: readonly OwnRow[]
  /** How the words were understood. */
  notes: readonly string[]
  /** The task that the words name. */
  tasks?: PageResponse['tasks']
  /** Searches that notes name, each with how many results it has. */
  suggested?: PageResponse['suggested']
  facets: Readonly<Record<string, readonly { id: string; count: number }[] | undefined>>
}

export type SearchAnswer =
  | SearchResults
  | { kind: 'refused'; reasons: string[] }
  /** No function serves this page: a copy of only the static files. */
  | { kind: 'unavailable' }

export function toResults(answer: PageResponse): SearchResults {
  const {
    total,
    query,
    results: rows,
    notes,
    tasks,
    suggested,
    facets = {},
    featured_first_party: own = [],
  } = answer
  return {
    kind: 'results',
    total,
    offset: query.offset,
    rows,
    own,
    notes,
    tasks,
    suggested,
    facets,
  }
}

/** @param answer result of `createPageSearch`; undefined without functions */
export function toSearchAnswer(answer: PageAnswer | undefined): SearchAnswer {
  if (answer === undefined) return { kind: 'unavailable' }
  if (!('problems' in answer)) return toResults(answer)
  return {
    kind: 'refused',
    reasons: answer.problems.map(({ name, detail }) => `${name}: ${detail}`),
  }
}
