import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'
import { type COSTS, type Invoked, RAILS, runsLocallyOnly } from '../wire/vocabulary.ts'
import type { Auth } from './invoke.ts'

/** CAIP-2 ids for the two chain families that the specification names. */
const NETWORK_PATTERN = /^(?:eip155:[1-9]\d{0,17}|solana:[1-9A-HJ-NP-Za-km-z]{32,44})$/

/** A higher price is a ceiling or a decoy, not what one call costs (USD). */
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

/** spec: Pricing. `unknown` has no other field: a variant, so that a wrong mix cannot compile. */
export const PricingSchema = v.variant(
  'model',
  [PerCallSchema, UnknownPricingSchema],
  'expected model per_call or unknown; a free service has `cost: free` instead of pricing',
)
export type Pricing = v.InferOutput<typeof PricingSchema>

interface Priced {
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

/** The declared cost; if none is declared, `paid` if there is a price on a rail. */
export function costOf({ cost, pricing }: Priced): Cost {
  return cost ?? (isPaid(pricing) ? 'paid' : 'unknown')
}

type Cost = (typeof COSTS)[number]

/** The text for a price that the seller doesn't publish. */
export const UNPUBLISHED = 'not published'

/** @example toPriceText({ model: 'per_call', min_usd: 0.01, max_usd: 0.05, … }) → '$0.01–$0.05 per call' */
export function toPriceText(pricing: Pricing): string {
  if (pricing.model === 'unknown') return UNPUBLISHED
  return `${toRangeText(pricing)} per call`
}

/** @example toRangeText({ min_usd: 0.01, max_usd: 0.05 }) → '$0.01–$0.05'; 'free' where nothing is charged */
function toRangeText({ min_usd, max_usd }: { min_usd: number; max_usd: number }): string {
  if (max_usd === 0) return 'free'
  return min_usd === max_usd ? toUsd(min_usd) : `${toUsd(min_usd)}–${toUsd(max_usd)}`
}

/**
 * Whether a seller charges more for a call than is listed.
 * @param usd the amount in the seller's 402
 */
export function isAbove({
  usd,
  price,
}: {
  usd: number
  price?: { max_usd: number; per: string } | undefined
}): boolean {
  return price?.per === 'call' && usd > price.max_usd
}

/**
 * One operation's price.
 * @example toUnitPriceText({ min_usd: 0.001, max_usd: 0.001, per: 'other' }) → '$0.001 / unit'
 */
export function toUnitPriceText(price: { min_usd: number; max_usd: number; per: string }): string {
  const { max_usd, per } = price
  // `other` is the seller's own unit, named in the operation's description.
  const unit = per === 'call' || max_usd === 0 ? '' : ` / ${per === 'other' ? 'unit' : per}`
  return toRangeText(price) + unit
}

/**
 * How a listing charges its callers. This is decided here for lists, pages, sentences and comparisons, and
 * for filters and orders by price. A listing that needs no account, key or payment charges nobody.
 * Software that callers run themselves is free, though the account behind it may cost something.
 */
export function chargeOf(listing: Charging): Charge {
  const { pricing, cost = 'unknown', auth } = listing
  if (pricing.model === 'per_call') return 'per_call'
  if (cost === 'freemium' && auth.type === 'none') return 'free_without_key'
  if (cost !== 'unknown') return cost
  if (!runsLocallyOnly(listing)) return auth.type === 'none' ? 'open' : 'unknown'
  return ['none', 'unknown'].includes(auth.type) ? 'free_to_run' : 'own_account'
}

type Charge = Cost | 'per_call' | 'open' | 'free_without_key' | 'free_to_run' | 'own_account'
type Charging = Priced & Invoked & { auth: Pick<Auth, 'type'> }

/** Whether a call costs nothing, wherever the service runs. */
export function isFree(listing: Charging): boolean {
  return ['free', 'open', 'free_without_key', 'free_to_run'].includes(chargeOf(listing))
}

/** The lowest price, by which lists filter and order; 0 for a free listing. */
export function listedPriceOf(listing: Charging): number | null {
  return lowestPriceOf(listing.pricing) ?? (isFree(listing) ? 0 : null)
}

/** What a call costs, as rows for listings state it, even if no price is published. */
export function toCostText(listing: Charging): string {
  const charge = chargeOf(listing)
  return charge === 'per_call' ? toPriceText(listing.pricing) : COST_TEXTS[charge]
}

const COST_TEXTS: Readonly<Record<Exclude<Charge, 'per_call'>, string>> = {
  free: 'free',
  open: 'free',
  freemium: 'free to start',
  free_without_key: 'free without a key',
  free_to_run: 'free to run',
  own_account: 'your own account',
  paid: UNPUBLISHED,
  unknown: UNPUBLISHED,
}

/** The most decimals that a price is shown with: with fewer, a tiny price could be shown as 0. */
const USD_DIGITS = 10

/** A sum as text, exact below one cent. @example toSumText(12.345) → '$12.35'; toSumText(0.002) → '$0.002' */
export function toSumText(usd: number): string {
  return toUsd(usd < 0.01 ? usd : Math.round(usd * 100) / 100)
}

const NUMBER = new Intl.NumberFormat('en')

/** @example toCountText(1, 'buyer') → '1 buyer'; toCountText(3000, 'buyer') → '3,000 buyers' */
export function toCountText(count: number, noun: string): string {
  return `${NUMBER.format(count)} ${noun}${count === 1 ? '' : 's'}`
}

/** @example readUsd('$1,200.50') → 1200.5; what `toUsd` wrote */
export function readUsd(usd: string): number {
  return Number(usd.replace(/[$,]/g, ''))
}

/** US dollars with as many digits as a small price needs: $0.0005, $0.02, $1.50, $3. */
export function toUsd(usd: number): string {
  const least = 10 ** -USD_DIGITS
  if (usd > 0 && usd < least) return `under $${least.toFixed(USD_DIGITS)}`
  const [whole = '0', fraction = ''] = usd.toFixed(USD_DIGITS).replace(/0+$/, '').split('.')
  return fraction === '' ? `$${whole}` : `$${whole}.${fraction.padEnd(2, '0')}`
}
