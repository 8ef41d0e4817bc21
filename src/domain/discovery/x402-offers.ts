import * as v from 'valibot'
import { isTestNetwork, toPayout } from '../listing/networks.ts'
import { NetworkSchema } from '../listing/pricing.ts'
import { COUNTED_NETWORKS, TEMPO_CHAIN_ID, toCaip2, usdAssetOf } from '../settlement/usd-assets.ts'
import { type Accept, AcceptSchema } from '../trust/seen-answer.ts'
import { present } from '../wire/json.ts'

/**
 * One way to pay as x402 writes it, wherever it stands: in a 402, a manifest, a row of a catalogue,
 * an OpenAPI document or a tool's terms. `amount` is version 2's word, `maxAmountRequired` 1's.
 */
export interface X402Offer {
  scheme: string
  /** CAIP-2 where we know the name, else as written. */
  network: string
  asset: string
  /** Whole base units, as written; '' where it names none. */
  amount: string
  payTo: string | null
  /** The price of one call in USD, or the reason it has no price. */
  price: number | PriceFault
  /** CAIP-10 of the payee; null where it is not an account of the network. */
  payout: string | null
  /** Everything a payer signs, where the offer says all of it. */
  accept: Accept | null
}

/** Why an amount cannot be read as a price in dollars. */
export interface PriceFault {
  reason:
    | 'test_network'
    | 'unsupported_network'
    | 'ceiling_price'
    | 'unknown_asset'
    | 'malformed_amount'
    | 'price_too_high'
  detail: string
  /** What was asked all the same, where it is too much to be a price. */
  usd?: number
}

/** Above this a call's price is a ceiling, a decoy, or a mistake in decimals (USD). */
export const MAX_CALL_USD = 1000

const text = v.pipe(v.string(), v.maxLength(200))
const units = v.nullish(v.union([v.string(), v.number()]))
const OfferSchema = v.object({
  scheme: v.optional(text, 'exact'),
  network: text,
  asset: v.optional(text, ''),
  amount: units,
  maxAmountRequired: units,
  payTo: v.nullish(text),
  maxTimeoutSeconds: v.optional(v.unknown()),
  extra: v.optional(v.unknown()),
})

/** Whether coins of test networks, which cost nothing, have a price. */
interface CoinRules {
  allowTestCoins: boolean
}
const MAIN_ONLY: CoinRules = { allowTestCoins: false }

/** @returns null for anything other than a way to pay. */
export function readX402Offer(value: unknown, rules = MAIN_ONLY): X402Offer | null {
  const parsed = v.safeParse(OfferSchema, value)
  if (!parsed.success) return null
  const { scheme, asset, payTo = null, maxTimeoutSeconds, extra, ...stated } = parsed.output
  const network = toCaip2(stated.network) ?? stated.network
  const amount = String(stated.amount ?? stated.maxAmountRequired ?? '')
  const accept = v.safeParse(AcceptSchema, {
    ...{ scheme, network, asset, amount, payTo, maxTimeoutSeconds },
    ...present({ extra: extra ?? undefined }),
  })
  return {
    ...{ scheme, network, asset, amount, payTo },
    price: priceOf({ scheme, network, asset, amount }, rules),
    payout: payTo === null ? null : toPayout(network, payTo),
    accept: accept.success ? accept.output : null,
  }
}

/** Nobody is paid there: a template's words, and the zero, burn and counted-up addresses of examples. */
export function isPlaceholderWallet(wallet: string | null): boolean {
  if (wallet === null || wallet === '') return false
  return ADDRESS.test(wallet)
    ? /^0x(?:0{38,40}.{0,2}|0{36}dead|(?:1234567890){4})$/i.test(wallet)
    : /[<>{}$…]|\.\.\.|your|my_|wallet|address|placeholder|todo|change_?me|replace|^0x[xy]/i.test(
        wallet,
      )
}

const ADDRESS = /^(?:0x[0-9a-fA-F]{40}|[1-9A-HJ-NP-Za-km-z]{32,44})$/

function priceOf(
  { scheme, network, asset, amount }: Pick<X402Offer, 'scheme' | 'network' | 'asset' | 'amount'>,
  rules: CoinRules,
): number | PriceFault {
  if (isTestNetwork(network) && !rules.allowTestCoins)
    return faultOf('test_network', `expected a main network, got ${shown(network)}`)
  if (!v.is(NetworkSchema, network)) {
    const detail = `expected eip155:<id> or solana:<reference>, got ${shown(network)}`
    return faultOf('unsupported_network', detail)
  }
  // Any other scheme's amount is a ceiling, not a price.
  if (scheme !== 'exact')
    return faultOf('ceiling_price', `expected an exact amount, got the scheme ${shown(scheme)}`)
  const decimals = decimalsOf(network, asset, rules)
  return decimals === null ? unknownCoin(asset, ` on ${network}`) : priceUnits(amount, decimals)
}

/** No real amount has more digits; longer ones would only cost time. */
const MAX_DIGITS = 40

/**
 * Whole base units as dollars, through BigInt and text: 0.1 + 0.2 has no place in a price.
 *
 * @example priceUnits('3000', 6) → 0.003
 */
export function priceUnits(amount: string, decimals: number): number | PriceFault {
  if (!/^\d+$/.test(amount) || amount.length > MAX_DIGITS)
    return faultOf(
      'malformed_amount',
      `expected a whole number of atomic units, got ${shown(amount)}`,
    )
  const digits = String(BigInt(amount)).padStart(decimals + 1, '0')
  const point = digits.length - decimals
  const decimal = `${digits.slice(0, point)}.${digits.slice(point)}`
  const usd = Number(decimal.replace(/\.$/, ''))
  if (usd <= MAX_CALL_USD) return usd
  const words = `${amount} units at ${decimals} decimals are $${decimal.replace(/\.?0*$/, '')} a call`
  return { ...faultOf('price_too_high', `${words}; expected at most $${MAX_CALL_USD}`), usd }
}

export function unknownCoin(asset: string, place = ''): PriceFault {
  const detail = `expected a dollar coin whose decimals are known, got ${shown(asset)}${place}`
  return faultOf('unknown_asset', detail)
}

function faultOf(reason: PriceFault['reason'], detail: string): PriceFault {
  return { reason, detail }
}

function shown(text: string): string {
  return JSON.stringify(text.slice(0, 80))
}

/**
 * Decimals of further dollar coins that priced endpoints name, by chain and contract: a price is a
 * claim, where a settlement is proof. Without an entry in either table no price in dollars can be
 * computed: 18 decimals read as 6 would ask for ten billion.
 */
const CLAIMED_COINS: Readonly<Record<string, number>> = {
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
  [`eip155:${TEMPO_CHAIN_ID}:0x20c0000000000000000000000000000000000000`]: 6,
}

/** @returns null for a coin not known to be worth a dollar. */
export function decimalsOf(network: string, asset: string, rules = MAIN_ONLY): number | null {
  const coin = network.startsWith('eip155:') ? asset.toLowerCase() : asset
  const counted = usdAssetOf(network, rules)
  if (counted?.address === coin) return counted.decimals
  const key = `${network}:${coin}`
  return Object.hasOwn(CLAIMED_COINS, key) ? (CLAIMED_COINS[key] ?? null) : null
}

/** The same by contract or mint alone, where no chain is named; null where chains disagree. */
export function coinDecimals(asset: string): number | null {
  if (!ADDRESS.test(asset)) return null
  const found = NETWORKS.map((network) => decimalsOf(network, asset)).filter(
    (each) => each !== null,
  )
  return new Set(found).size === 1 ? (found[0] ?? null) : null
}

const NETWORKS = [
  ...new Set([
    ...Object.keys(CLAIMED_COINS).map((key) => key.slice(0, key.lastIndexOf(':'))),
    ...COUNTED_NETWORKS,
  ]),
]
