import { runsOf } from '../../domain/listing/invoke.ts'
import { lowestPriceOf, railsOf } from '../../domain/listing/pricing.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { FACET_STEPS } from '../../domain/wire/vocabulary.ts'

/** Filters of the search page, in the order they are shown. */
export const FACETS = [
  'kind',
  'category',
  'rail',
  'price',
  'trust',
  'runs',
  'auth',
  'source',
] as const
export type Facet = (typeof FACETS)[number]

/**
 * What a listing is found by in each filter. Price and trust are cumulative: a listing at $0.005
 * has both `0.01` and `0.1`, so that one choice means "at most" or "at least".
 */
export function toFacets(view: ListingView): Record<Facet, readonly string[]> {
  const price = lowestPriceOf(view.pricing)
  const { score } = view.trust
  return {
    kind: [view.kind],
    category: view.categories,
    rail: railsOf(view.pricing),
    price:
      price === null ? [] : FACET_STEPS.max_price_usd.filter((step) => price <= step).map(String),
    trust: score === null ? [] : FACET_STEPS.min_trust.filter((step) => score >= step).map(String),
    runs: runsOf(view),
    auth: [view.auth.type],
    source: [...new Set(view.sources.map(({ source }) => source))],
  }
}

/** The facets as Pagefind's inline attribute takes them, one value each: `kind:http_api`. */
export function toFacetTexts(view: ListingView): string[] {
  return Object.entries(toFacets(view)).flatMap(([facet, values]) =>
    values.map((value) => `${facet}:${value}`),
  )
}
