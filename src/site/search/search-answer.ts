import * as v from 'valibot'
import { SearchResponseSchema } from '../../domain/search/search-response.ts'
import { type SearchRow, toOwnRow, toSearchRow } from './search-row.ts'

/** What the search page prints of an answer of the search function. */
export type SearchAnswer =
  | {
      kind: 'results'
      total: number
      offset: number
      rows: SearchRow[]
      /** Our own kits that match. */
      own: SearchRow[]
      /** What the words were taken for. */
      notes: readonly string[]
      facets: Readonly<Record<string, readonly { id: string; count: number }[] | undefined>>
    }
  | { kind: 'refused'; reasons: string[] }
  /** No function serves this page: a copy of the static files alone. */
  | { kind: 'unavailable' }

export type SearchResults = Extract<SearchAnswer, { kind: 'results' }>

const RefusedSchema = v.object({
  problems: v.array(v.object({ name: v.string(), detail: v.string() })),
})

export function toSearchAnswer(answer: unknown): SearchAnswer {
  const found = v.safeParse(SearchResponseSchema, answer)
  if (found.success)
    return {
      kind: 'results',
      total: found.output.total,
      offset: found.output.query.offset,
      rows: found.output.results.map(({ pricing, trust, buy, ...rest }) =>
        toSearchRow({
          ...rest,
          price: pricing.model === 'per_call' ? pricing : null,
          rails: pricing.model === 'per_call' ? pricing.rails : [],
          trust: trust.score,
        }),
      ),
      notes: found.output.notes,
      own: found.output.featured_first_party.map(toOwnRow),
      facets: found.output.facets ?? {},
    }
  const refused = v.safeParse(RefusedSchema, answer)
  if (!refused.success) return { kind: 'unavailable' }
  return {
    kind: 'refused',
    reasons: refused.output.problems.map(({ name, detail }) => `${name}: ${detail}`),
  }
}
