import * as v from 'valibot'
import { CompactResponseSchema, CompactRowSchema } from '../../domain/search/search-response.ts'
import { type SearchResults, toResults } from './search-row.ts'

/** What the search page prints of an answer of the search function. */
export type SearchAnswer =
  | SearchResults
  | { kind: 'refused'; reasons: string[] }
  /** No function serves this page: a copy of the static files alone. */
  | { kind: 'unavailable' }

const RefusedSchema = v.object({
  problems: v.array(v.object({ name: v.string(), detail: v.string() })),
})

/** The compact view, with what its rows and our own kits say on pages alone. */
const PageResponseSchema = v.object({
  ...CompactResponseSchema.entries,
  results: v.array(
    v.object({
      ...CompactRowSchema.entries,
      domain: v.optional(v.string()),
      operation: v.optional(v.string()),
    }),
  ),
  featured_first_party: v.optional(
    v.array(v.pick(CompactRowSchema, ['id', 'name', 'kind', 'summary'])),
  ),
})

export function toSearchAnswer(answer: unknown): SearchAnswer {
  const found = v.safeParse(PageResponseSchema, answer)
  if (found.success) return toResults(found.output, found.output.query.offset)
  const refused = v.safeParse(RefusedSchema, answer)
  if (!refused.success) return { kind: 'unavailable' }
  return {
    kind: 'refused',
    reasons: refused.output.problems.map(({ name, detail }) => `${name}: ${detail}`),
  }
}
