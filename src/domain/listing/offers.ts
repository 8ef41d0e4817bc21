import { largestOf, smallestOf } from '../wire/json.ts'
import { RAILS, type Rail } from '../wire/vocabulary.ts'
import type { Operation } from './listing-facts.ts'
import type { Pricing } from './pricing.ts'

/** What one call costs on one chain, or without a chain by card. */
export type Offer = NonNullable<Operation['offers']>[number]

/** What a 402 asks for one call by one way to pay; empty where that is not known. */
export function toOffer({ rail, network, usd }: Term): Offer[] {
  if (usd === null) return []
  return [{ rail, ...(network !== null && { network }), min_usd: usd, max_usd: usd }]
}

interface Term {
  rail: Rail
  network: string | null
  usd: number | null
}

/** The pricing that covers every offer; unknown without one. */
export function pricingOf(offers: readonly Offer[]): Pricing {
  if (offers.length === 0) return { model: 'unknown' }
  return {
    model: 'per_call',
    min_usd: smallestOf(offers.map(({ min_usd }) => min_usd)),
    max_usd: largestOf(offers.map(({ max_usd }) => max_usd)),
    rails: RAILS.filter((known) => offers.some(({ rail }) => rail === known)),
    networks: [...new Set(offers.flatMap(({ network }) => network ?? []))].sort(),
  }
}

/** One way to pay per chain: callers must expect the highest of several amounts. */
function toOffers(offers: readonly Offer[]): Offer[] {
  const byPlace = new Map<string, Offer>()
  for (const { rail, network, min_usd, max_usd } of offers) {
    const key = `${rail} ${network ?? ''}`
    const known = byPlace.get(key)
    byPlace.set(key, {
      rail,
      ...(network !== undefined && { network }),
      min_usd: Math.min(min_usd, known?.min_usd ?? min_usd),
      max_usd: Math.max(max_usd, known?.max_usd ?? max_usd),
    })
  }
  return [...byPlace.values()]
}

/** The price that covers every offer of one operation. */
export function toPrice(
  offers: readonly Offer[],
  per: NonNullable<Operation['price']>['per'] = 'call',
): Pick<Operation, 'price' | 'offers'> {
  const pricing = pricingOf(offers)
  if (pricing.model === 'unknown') return {}
  const { min_usd, max_usd } = pricing
  return { price: { min_usd, max_usd, per }, offers: toOffers(offers) }
}

export function offersOf(operations: readonly Pick<Operation, 'offers'>[]): Offer[] {
  return operations.flatMap(({ offers = [] }) => offers)
}
