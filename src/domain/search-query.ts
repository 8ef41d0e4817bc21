import * as v from 'valibot'
import { DISCOVERY_FILES, KINDS, RAILS } from './vocabulary.ts'

/** Characters of `q` a caller may send; the same number is the most the engine looks at. */
export const MAX_QUERY_CHARACTERS = 512
export const DEFAULT_LIMIT = 20
export const MAX_LIMIT = 50
export const MAX_TRUST = 100

/** The parameters of a search, parsed. On the wire this object is the `query` echo. */
export const SearchQuerySchema = v.object({
  q: v.optional(v.string()),
  kind: v.optional(v.picklist(KINDS)),
  category: v.optional(v.string()),
  rail: v.optional(v.picklist(RAILS)),
  source: v.optional(v.string()),
  max_price_usd: v.optional(v.pipe(v.number(), v.finite(), v.minValue(0))),
  min_trust: v.optional(v.pipe(v.number(), v.minValue(0), v.maxValue(MAX_TRUST))),
  paid_only: v.optional(v.boolean()),
  has: v.optional(v.array(v.picklist(DISCOVERY_FILES))),
  limit: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_LIMIT)),
  offset: v.pipe(v.number(), v.safeInteger(), v.minValue(0)),
})

export type SearchQuery = v.InferOutput<typeof SearchQuerySchema>
