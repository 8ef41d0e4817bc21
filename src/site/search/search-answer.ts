import * as v from 'valibot'
import { CompactResponseSchema, CompactRowSchema } from '../../domain/search/search-response.ts'
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
  if (found.success) {
    const {
      total,
      query,
      results: rows,
      notes,
      featured_first_party: own = [],
      facets = {},
    } = found.output
    return { kind: 'results', total, offset: query.offset, rows, own, notes, facets }
  }
  const refused = v.safeParse(RefusedSchema, answer)
  if (!refused.success) return { kind: 'unavailable' }
  return {
    kind: 'refused',
    reasons: refused.output.problems.map(({ name, detail }) => `${name}: ${detail}`),
  }
}
