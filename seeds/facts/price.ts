import * as v from 'valibot'
import { NetworkSchema, type Pricing } from '../../src/domain/listing/pricing.ts'
import { toCaip2 } from '../../src/domain/settlement/usd-assets.ts'
import { largestOf, smallestOf } from '../../src/domain/wire/extremes.ts'
import type { Rail } from '../../src/domain/wire/vocabulary.ts'
import { decimalsOf, isTestNetwork } from './assets.ts'
import type { RefusalReason } from './refusal.ts'

/** One way to pay, as x402 writes it: `amount` in v2, `maxAmountRequired` in v1. */
export const AcceptSchema = v.object({
  network: v.string(),
  asset: v.optional(v.string(), ''),
  scheme: v.optional(v.string(), 'exact'),
  amount: v.optional(v.nullable(v.union([v.string(), v.number()]))),
  maxAmountRequired: v.optional(v.nullable(v.union([v.string(), v.number()]))),
  payTo: v.optional(v.nullable(v.string())),
})
export type Accept = v.InferOutput<typeof AcceptSchema>

/** What one call costs on one chain. */
export interface Offer {
  rail: Rail
  /** Null where money moves by card. */
  network: string | null
  min_usd: number
  max_usd: number
}

export interface PriceFault {
  reason: RefusalReason
  /** With the arithmetic, where an amount is what is wrong. */
  detail: string
}

/** Above this a call's price is a ceiling, a decoy, or a mistake in decimals (USD). */
export const MAX_CALL_USD = 1000

/** No amount that means money has more digits; longer ones would only cost time. */
const MAX_DIGITS = 40

/** @returns a price in dollars, or the reason for none. */
export function priceAccept(accept: Accept): Offer | PriceFault {
  const network = toCaip2(accept.network) ?? accept.network
  if (isTestNetwork(network))
    return { reason: 'test_network', detail: `expected a main network, got ${shown(network)}` }
  if (!v.is(NetworkSchema, network))
    return {
      reason: 'unsupported_network',
      detail: `expected eip155:<id> or solana:<reference>, got ${shown(network)}`,
    }
  if (accept.scheme !== 'exact')
    return {
      reason: 'ceiling_price',
      detail: `expected an exact amount, got the scheme ${shown(accept.scheme)}`,
    }
  const amount = String(accept.amount ?? accept.maxAmountRequired ?? '')
  const decimals = decimalsOf(network, accept.asset)
  if (decimals === null)
    return {
      reason: 'unknown_asset',
      detail: `expected a dollar coin whose decimals are known, got ${shown(accept.asset)} on ${network}`,
    }
  const price = priceAtomic(amount, decimals)
  return typeof price === 'number'
    ? { rail: 'x402', network, min_usd: price, max_usd: price }
    : price
}

/**
 * Atomic units as dollars, through BigInt and text: 0.1 + 0.2 has no place in a price.
 *
 * @example priceAtomic('3000', 6) → 0.003
 */
export function priceAtomic(amount: string, decimals: number): number | PriceFault {
  if (!/^\d+$/.test(amount) || amount.length > MAX_DIGITS)
    return {
      reason: 'malformed_amount',
      detail: `expected a whole number of atomic units, got ${shown(amount)}`,
    }
  const digits = BigInt(amount)
    .toString()
    .padStart(decimals + 1, '0')
  const text = `${digits.slice(0, digits.length - decimals)}.${digits.slice(digits.length - decimals)}`
  const usd = Number(text.replace(/\.$/, ''))
  return usd > MAX_CALL_USD
    ? {
        reason: 'price_too_high',
        detail: `${amount} units at ${decimals} decimals are $${text.replace(/\.?0*$/, '')} a call; expected at most $${MAX_CALL_USD}`,
      }
    : usd
}

/** The pricing that covers every offer; unknown without one. */
export function pricingOf(offers: readonly Offer[]): Pricing {
  if (offers.length === 0) return { model: 'unknown' }
  return {
    model: 'per_call',
    min_usd: smallestOf(offers.map(({ min_usd }) => min_usd)),
    max_usd: largestOf(offers.map(({ max_usd }) => max_usd)),
    rails: [...new Set(offers.map(({ rail }) => rail))].sort(compareRails),
    networks: [...new Set(offers.flatMap(({ network }) => network ?? []))].sort(),
  }
}

function compareRails(a: Rail, b: Rail): number {
  return a === b ? 0 : a === 'x402' ? -1 : 1
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}
