import * as v from 'valibot'
import { SearchResponseSchema } from '../../search/search-response.ts'
import { type ListingRow, toSummaryRow } from '../rows/listing-row.ts'

/** What the search page prints of an answer of the search function. */
export type SearchAnswer =
  | {
      kind: 'results'
      total: number
      offset: number
      rows: ListingRow[]
      own: ListingRow[]
      /** What the words were taken for. */
      notes: readonly string[]
    }
  | { kind: 'refused'; reasons: string[] }
  /** No function serves this page: a copy of the static files alone. */
  | { kind: 'unavailable' }

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
      rows: found.output.results.map((summary) => toSummaryRow(summary, false)),
      notes: found.output.notes,
      own: found.output.featured_first_party.map((summary) => toSummaryRow(summary, true)),
    }
  const refused = v.safeParse(RefusedSchema, answer)
  if (!refused.success) return { kind: 'unavailable' }
  return {
    kind: 'refused',
    reasons: refused.output.problems.map(({ name, detail }) => `${name}: ${detail}`),
  }
}
