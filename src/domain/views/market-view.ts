import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { type MarketSeries, MarketSeriesSchema } from '../derived/market-series.ts'
import { lowestPriceOf, railsOf } from '../listing/pricing.ts'
import { described } from '../wire/shapes.ts'
import { RAILS, type Rail } from '../wire/vocabulary.ts'

/** A median of fewer prices says nothing about a market. */
const MIN_PRICES = 5

/** `GET /api/v1/market/reports`: the free preview; the paid tier is a stub. */
export const MarketReportsSchema = v.object({
  preview: v.object({
    prices: v.array(
      v.object({
        category: v.string(),
        rail: v.picklist(RAILS),
        listings: v.number(),
        median_min_usd: described(v.optional(v.number()), `Absent below ${MIN_PRICES} listings.`),
      }),
    ),
    measurements: described(
      v.array(MarketSeriesSchema),
      'What others measured of the whole market and published, each with its source.',
    ),
    paid_listings: described(v.number(), 'Listings that name a payment rail.'),
    priced_listings: described(v.number(), 'Those of them whose lowest price is known.'),
    measured: v.object({
      listings: v.number(),
      settlements_30d: v.number(),
      volume_usd_30d: v.number(),
    }),
  }),
  paid: v.object({ status: v.literal('stub'), note: v.string() }),
})
export type MarketReportsView = v.InferOutput<typeof MarketReportsSchema>

export function toMarketReportsView(
  listings: readonly DerivedListing[],
  measurements: readonly MarketSeries[] = [],
): MarketReportsView {
  const outside = listings.filter(({ facts }) => !facts.first_party)
  const paid = outside.filter(({ facts }) => railsOf(facts.pricing).length > 0)
  const measured = outside.flatMap(({ trust }) =>
    trust.evidence === 'no_payment_data' ? [] : [trust.measured],
  )
  const volume = measured.reduce((sum, m) => sum + m.volume_usd_30d, 0)
  return {
    preview: {
      prices: medianPrices(paid),
      measurements: [...measurements],
      paid_listings: paid.length,
      priced_listings: paid.filter(({ facts }) => lowestPriceOf(facts.pricing) !== null).length,
      measured: {
        listings: measured.length,
        settlements_30d: Math.round(measured.reduce((sum, m) => sum + m.settlements_30d, 0)),
        volume_usd_30d: Math.round(volume * 100) / 100,
      },
    },
    paid: { status: 'stub', note: 'Full tables are not sold yet; see /api/v1/roadmap.' },
  }
}

/** Median of the lowest prices, by category and rail, sorted by both. */
function medianPrices(paid: readonly DerivedListing[]) {
  const groups = new Map<string, { category: string; rail: Rail; prices: number[] }>()
  for (const { facts } of paid) {
    const price = lowestPriceOf(facts.pricing)
    if (price === null) continue
    for (const category of facts.categories)
      for (const rail of railsOf(facts.pricing)) {
        const key = `${category} ${rail}`
        const group = groups.get(key) ?? { category, rail, prices: [] }
        group.prices.push(price)
        groups.set(key, group)
      }
  }
  return [...groups.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { category, rail, prices }]) => ({
      category,
      rail,
      listings: prices.length,
      ...(prices.length >= MIN_PRICES && { median_min_usd: medianOf(prices) }),
    }))
}

/** Of two in the middle, what lies between them, without the dust of binary fractions. */
function medianOf(prices: readonly number[]): number {
  const sorted = prices.toSorted((a, b) => a - b)
  const place = (sorted.length - 1) / 2
  const [lower = 0, upper = lower] = [sorted[Math.floor(place)], sorted[Math.ceil(place)]]
  return Number(((lower + upper) / 2).toPrecision(12))
}
