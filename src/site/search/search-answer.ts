import * as v from 'valibot'
import { railsOf } from '../../domain/listing/pricing.ts'
import { SearchResponseSchema } from '../../domain/search/search-response.ts'
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

export function toSearchAnswer(answer: unknown): SearchAnswer {
  const found = v.safeParse(SearchResponseSchema, answer)
  if (found.success) {
    const { total, query, results, notes, featured_first_party, facets = {} } = found.output
    const rows = results.map(({ pricing, trust, ...rest }) => ({
      ...rest,
      price: pricing.model === 'per_call' ? pricing : null,
      rails: railsOf(pricing),
      trust: trust.score,
      vouched: trust.score === null || trust.unknown_buyers_30d !== undefined,
    }))
    const { offset } = query
    return { kind: 'results', total, offset, rows, own: featured_first_party, notes, facets }
  }
  const refused = v.safeParse(RefusedSchema, answer)
  if (!refused.success) return { kind: 'unavailable' }
  return {
    kind: 'refused',
    reasons: refused.output.problems.map(({ name, detail }) => `${name}: ${detail}`),
  }
}
