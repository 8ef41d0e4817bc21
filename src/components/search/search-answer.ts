import type { PageAnswer, PageResponse } from '../../domain/search/search-response.ts'

export type SearchAnswer =
  | { kind: 'results'; found: PageResponse }
  | { kind: 'refused'; reasons: string[] }
  /** No function serves this page: a copy of only the static files. */
  | { kind: 'unavailable' }

/** @param answer result of `createPageSearch`; undefined without functions */
export function toSearchAnswer(answer: PageAnswer | undefined): SearchAnswer {
  if (answer === undefined) return { kind: 'unavailable' }
  if (!('problems' in answer)) return { kind: 'results', found: answer }
  return {
    kind: 'refused',
    reasons: answer.problems.map(({ name, detail }) => `${name}: ${detail}`),
  }
}
