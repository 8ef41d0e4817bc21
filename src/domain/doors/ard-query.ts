import * as v from 'valibot'
import { MAX_QUERY_CHARACTERS } from '../search/search-query.ts'
import type { ListingView } from '../views/listing-view.ts'
import { AGENT_CARD_TYPE, KIT_TYPE, SERVER_CARD_TYPE, toArdEntry } from './ard-entry.ts'

export const ARD_DEFAULT_PAGE = 10
const ARD_MOST_PAGE = 100

/** What a filter may name; each takes one value or several, of which one must fit. */
const FILTERS = {
  type: (view: ListingView, baseUrl: string) => [toArdEntry(view, baseUrl).type],
  kind: (view: ListingView) => [view.kind],
  category: (view: ListingView) => view.categories,
  rail: (view: ListingView) => (view.pricing.model === 'per_call' ? view.pricing.rails : []),
  tag: (view: ListingView) => view.tags,
} satisfies Record<string, (view: ListingView, baseUrl: string) => readonly string[]>

const values = v.pipe(
  v.union([v.pipe(v.string(), v.maxLength(100)), v.array(v.pipe(v.string(), v.maxLength(100)))]),
  v.transform((given) => (typeof given === 'string' ? [given] : given)),
)

const FilterSchema = v.strictObject({
  type: v.optional(
    v.pipe(
      values,
      v.everyItem(
        (type) => [AGENT_CARD_TYPE, KIT_TYPE, SERVER_CARD_TYPE].includes(type),
        `expected ${AGENT_CARD_TYPE}, ${SERVER_CARD_TYPE} or ${KIT_TYPE}`,
      ),
    ),
  ),
  kind: v.optional(values),
  category: v.optional(values),
  rail: v.optional(values),
  tag: v.optional(values),
})
type ArdFilter = v.InferOutput<typeof FilterSchema>

/** Body of `POST /ard/search`; closed, as the protocol has it. */
export const ArdSearchSchema = v.strictObject({
  query: v.strictObject({
    text: v.pipe(v.string(), v.maxLength(MAX_QUERY_CHARACTERS)),
    filter: v.optional(FilterSchema, {}),
  }),
  // We refer to no other registry, so the three mean the same here.
  federation: v.optional(v.picklist(['auto', 'referrals', 'none'])),
  pageSize: v.optional(
    v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(ARD_MOST_PAGE)),
    ARD_DEFAULT_PAGE,
  ),
  pageToken: v.optional(v.pipe(v.string(), v.maxLength(100))),
})

/** AND across the keys of a filter, OR among the values of one. */
export function fitsArdFilter(view: ListingView, filter: ArdFilter, baseUrl: string): boolean {
  return Object.entries(FILTERS).every(([name, read]) => {
    const wanted = Object.entries(filter).find(([key]) => key === name)?.[1]
    return wanted === undefined || read(view, baseUrl).some((value) => wanted.includes(value))
  })
}

/** 100 for the first result and falling with its rank: how well it fits, never trust. */
export function scoreOfRank(rank: number): number {
  return Math.max(1, Math.round(100 / (1 + rank / 10)))
}
