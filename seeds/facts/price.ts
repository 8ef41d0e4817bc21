import * as v from 'valibot'
import { isTestNetwork } from '../../src/domain/listing/networks.ts'
import { NetworkSchema } from '../../src/domain/listing/pricing.ts'
import { toCaip2, usdAssetOf } from '../../src/domain/settlement/usd-assets.ts'
import type { Offer } from '../../src/domain/sources/unite-offers.ts'
import { type Fault, faultOf } from './refusal.ts'

/** One way to pay, as x402 writes it: `amount` in v2, `maxAmountRequired` in v1. */
export const AcceptSchema = v.object({
  network: v.string(),
  asset: v.optional(v.string(), ''),
  scheme: v.optional(v.string(), 'exact'),
  amount: v.nullish(v.union([v.string(), v.number()])),
  maxAmountRequired: v.nullish(v.union([v.string(), v.number()])),
  payTo: v.nullish(v.string()),
})
export type Accept = v.InferOutput<typeof AcceptSchema>

/** Above this a call's price is a ceiling, a decoy, or a mistake in decimals (USD). */
export const MAX_CALL_USD = 1000

/** No real amount has more digits; longer ones would only cost time. */
const MAX_DIGITS = 40

/** @returns a price in dollars, or the reason for none. */
export function priceAccept(accept: Accept): Offer | Fault {
  const network = toCaip2(accept.network) ?? accept.network
  if (isTestNetwork(network))
    return faultOf('test_network', `expected a main network, got ${shown(network)}`)
  if (!v.is(NetworkSchema, network)) {
    const detail = `expected eip155:<id> or solana:<reference>, got ${shown(network)}`
    return faultOf('unsupported_network', detail)
  }
  if (accept.scheme !== 'exact')
    return faultOf(
      'ceiling_price',
      `expected an exact amount, got the scheme ${shown(accept.scheme)}`,
    )
  const amount = String(accept.amount ?? accept.maxAmountRequired ?? '')
  const decimals = decimalsOf(network, accept.asset)
  if (decimals === null) return unknownAsset(accept.asset, ` on ${network}`)
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
export function priceAtomic(amount: string, decimals: number): number | Fault {
  if (!/^\d+$/.test(amount) || amount.length > MAX_DIGITS)
    return faultOf(
      'malformed_amount',
      `expected a whole number of atomic units, got ${shown(amount)}`,
    )
  const digits = String(BigInt(amount)).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const text = `${digits.slice(0, point)}.${digits.slice(point)}`
  const usd = Number(text.replace(/\.$/, ''))
  if (usd <= MAX_CALL_USD) return usd
  const asked = `${amount} units at ${decimals} decimals are $${text.replace(/\.?0*$/, '')} a call`
  return faultOf('price_too_high', `${asked}; expected at most $${MAX_CALL_USD}`)
}

export function unknownAsset(asset: string, place = ''): Fault {
  const detail = `expected a dollar coin whose decimals are known, got ${shown(asset)}${place}`
  return faultOf('unknown_asset', detail)
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}

/**
 * Decimals of further dollar coins that priced endpoints name, by chain and contract: a price is a
 * claim, where a settlement is proof. Without an entry in either table no price in dollars can be
 * computed: 18 decimals read as 6 would ask for ten billion.
 */
const DECIMALS: Readonly<Record<string, number>> = {
  // USDC
  'eip155:143:0x754704bc059f8c67012fed69bc8a327a5aafb603': 6,
  'eip155:480:0x79a02482a880bce3f13e09da970dc34db4cd24d1': 6,
  'eip155:999:0xb88339cb7199b77e23db6e890353e22632ba630f': 6,
  'eip155:1329:0xe15fc38f6d8c56af07bbcbe3baf5708a2bf42392': 6,
  // USDT
  'eip155:196:0x779ded0c9e1022225f8e0630b35a9b54be713736': 6,
  'solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:Es9vMFrzaCERmJfrF4H2FYD4KCoNkY11McCe8BenwNYB': 6,
  // BNB Chain: bridged USDC, USDT, USD1
  'eip155:56:0x8ac76a51cc950d9822d68b83fe1ad97b32cd580d': 18,
  'eip155:56:0x55d398326f99059ff775485246999027b3197955': 18,
  'eip155:56:0x8d0d000ee44948fc98c9b98a4fa4921476f08b0d': 18,
  // Tempo's own dollar
  'eip155:4217:0x20c0000000000000000000000000000000000000': 6,
}

/** @returns null for a coin not known to be worth a dollar. */
export function decimalsOf(network: string, asset: string): number | null {
  const coin = network.startsWith('eip155:') ? asset.toLowerCase() : asset
  const counted = usdAssetOf(network, { allowTestCoins: false })
  if (counted?.address === coin) return counted.decimals
  const key = `${network}:${coin}`
  return Object.hasOwn(DECIMALS, key) ? (DECIMALS[key] ?? null) : null
}
