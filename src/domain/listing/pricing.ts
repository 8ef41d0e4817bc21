import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'
import { type COSTS, RAILS } from '../wire/vocabulary.ts'

/** CAIP-2 ids of the two chain families the specification names. */
const NETWORK_PATTERN = /^(?:eip155:[1-9]\d{0,17}|solana:[1-9A-HJ-NP-Za-km-z]{32,44})$/

/** Above this a price is a ceiling or a decoy, not what one call costs (USD). */
const MAX_PRICE_USD = 100_000

export const NetworkSchema = textLike(
  NETWORK_PATTERN,
  'expected eip155:<chain id> or solana:<chain reference>, such as eip155:8453',
)

export const PriceSchema = v.pipe(
  v.number('expected a number of US dollars, such as 0.01'),
  v.minValue(0, 'expected a price of 0 or more'),
  v.maxValue(MAX_PRICE_USD, `expected a price per call of at most ${MAX_PRICE_USD} USD`),
)

export const PerCallSchema = v.pipe(
  v.strictObject({
    model: v.literal('per_call'),
    min_usd: PriceSchema,
    max_usd: PriceSchema,
    rails: v.pipe(
      v.array(v.picklist(RAILS, `expected ${RAILS.join(' or ')}`)),
      v.minLength(1, 'expected at least one rail: x402 or mpp'),
      v.check((rails) => new Set(rails).size === rails.length, 'expected each rail once'),
    ),
    /** May be empty: an MPP service may take cards only. */
    networks: v.pipe(
      v.array(NetworkSchema),
      v.check(
        (networks) => new Set(networks).size === networks.length,
        'expected each network once',
      ),
    ),
  }),
  v.forward(
    v.check(
      ({ min_usd, max_usd }) => min_usd <= max_usd,
      'expected max_usd to be at least min_usd',
    ),
    ['max_usd'],
  ),
)

const UnknownPricingSchema = v.strictObject({ model: v.literal('unknown') })

/** spec: Pricing. `unknown` carries no other field: a variant, so that a wrong mix cannot compile. */
export const PricingSchema = v.variant(
  'model',
  [PerCallSchema, UnknownPricingSchema],
  'expected model per_call or unknown',
)
export type Pricing = v.InferOutput<typeof PricingSchema>

export interface Priced {
  cost?: Cost | undefined
  pricing: Pricing
}

export function railsOf(pricing: Pricing) {
  return pricing.model === 'per_call' ? pricing.rails : []
}

export function isPaid(pricing: Pricing): boolean {
  return pricing.model === 'per_call'
}

export function highestPriceOf(pricing: Pricing): number | null {
  return pricing.model === 'per_call' ? pricing.max_usd : null
}

export function lowestPriceOf(pricing: Pricing): number | null {
  return pricing.model === 'per_call' ? pricing.min_usd : null
}

export function networksOf(pricing: Pricing): readonly string[] {
  return pricing.model === 'per_call' ? pricing.networks : []
}

/** The declared price, else one from the price on a rail. */
export function costOf({ cost, pricing }: Priced): Cost {
  return cost ?? (isPaid(pricing) ? 'paid' : 'unknown')
}

export type Cost = (typeof COSTS)[number]
