import * as v from 'valibot'
import { createOperationSchema, type Operation } from '../listing/listing-facts.ts'
import { isTestNetwork, toPayout } from '../listing/networks.ts'
import { findOperationFaults, type Offer, toPrice } from '../listing/operation.ts'
import { NetworkSchema } from '../listing/pricing.ts'
import { type Accept, AcceptSchema } from '../trust/evidence.ts'
import { COUNTED_NETWORKS, TEMPO_CHAIN_ID, toCaip2, usdAssetOf } from '../trust/usd-assets.ts'
import { eachOnce, isJsonObject, largestOf, memberOf, present, smallestOf } from '../wire/json.ts'
import { HTTP_METHODS, RAILS, type Rail } from '../wire/vocabulary.ts'

/** What a seller's document states about paying for one operation. */
export interface StatedPayment extends Pick<Operation, 'price' | 'offers'> {
  /** CAIP-10, each once, without the placeholders of templates. */
  payees: string[]
  /** A text found in place of a payee. */
  placeholder?: string
  /** Why a named amount is not a price; set if no other amount is a price. */
  fault?: PriceFault
}

const MAX_WAYS = 20

/**
 * What a document states about paying, in every shape that is published: `x-payment-info` in an
 * OpenAPI operation and the entries of an x402 manifest. Both have a list of `offers` (the draft of
 * payment discovery) or `accepts` (x402), a single such offer, or a price in dollars next to the
 * `protocols` that take it. A price that only a 402 states is not included.
 */
export function readPaymentInfo(info: unknown): StatedPayment {
  if (!isJsonObject(info)) return { payees: [] }
  const list = [info.offers ?? info.accepts ?? []].flat().slice(0, MAX_WAYS)
  const bounds = readBounds(info)
  const named = bounds === null ? protocolsOf(info).flatMap(toNamedWay) : []
  const ways = (list.length > 0 ? list : named.length > 0 ? named : [info]).flatMap(readWay)
  if (ways.some((way) => way.bounds !== null)) return toStated(ways)
  const places = list.length > 0 ? ways : readProtocols(info)
  const fault = ways.find((way) => way.fault !== undefined)?.fault
  return toStated(
    places.map((place) => ({ ...place, bounds, ...(bounds === null && present({ fault })) })),
    bounds,
  )
}

type Bounds = Pick<Offer, 'min_usd' | 'max_usd'> & { per?: NonNullable<Operation['price']>['per'] }

/** A way to pay, with its price if that is known. */
interface Way {
  /** Null if no protocol is named. */
  rail: Rail | null
  network: string | null
  payTo: string | null
  bounds: Bounds | null
  fault?: PriceFault | undefined
}

/** @param bounds the document's own price, if it is not the price of one way */
function toStated(ways: readonly Way[], bounds: Bounds | null = null): StatedPayment {
  const main = ways.filter(({ network }) => network === null || !isTestNetwork(network))
  const priced = main.flatMap(({ rail, network, bounds: own }) =>
    rail === null || own === null ? [] : [{ rail, ...(network !== null && { network }), ...own }],
  )
  const faults = ways.flatMap(({ fault }) => fault ?? [])
  const fault = faults.find(({ reason }) => reason !== 'test_network') ?? faults[0]
  // A card can't be charged a cent: if a chain takes payment too, the card's amount is not what one call costs.
  const onChain = new Set(
    priced.filter(({ network }) => network !== undefined).map(({ rail }) => rail),
  )
  const offers = priced.filter(({ rail, network }) => network !== undefined || !onChain.has(rail))
  // A price that exists only on test networks is ignored.
  const own = bounds !== null && (main.length > 0 || ways.length === 0) ? bounds : null
  const { per = 'call', ...usd } = own ?? { min_usd: 0, max_usd: 0 }
  const price = offers.length > 0 ? toPrice(offers, per) : own && { price: { ...usd, per } }
  const placeholder = ways.map(({ payTo }) => payTo).find((payTo) => isPlaceholderWallet(payTo))
  return {
    ...price,
    payees: eachOnce(
      main.flatMap(({ network, payTo }) => (payTo && toPayout(network, payTo)) || []),
      (payee) => payee.toLowerCase(),
    ),
    ...(placeholder && { placeholder }),
    ...(!price?.price && present({ fault })),
  }
}

/** A single offer: an x402 one, or one payment method with its intent, amount and currency. */
function readWay(value: unknown): Way[] {
  if (!isJsonObject(value)) return []
  const { method, intent } = value
  if (isHttpMethod(method) || typeof method !== 'string')
    return typeof value.network === 'string' ? [readX402Way(value, value.network)] : []
  // A session's or a subscription's amount is not what one call costs.
  const isCharge = intent === undefined || intent === 'charge'
  const network = chainOfMethod(method, value)
  const rail = method === 'x402' ? 'x402' : 'mpp'
  const usd = isCharge ? readAmount(value, network) : null
  return [{ rail, network, payTo: payeeOf(value), ...toBounds(usd) }]
}

function toBounds(usd: number | PriceFault | null): Pick<Way, 'bounds' | 'fault'> {
  if (typeof usd === 'number') return { bounds: { min_usd: usd, max_usd: usd } }
  return { bounds: null, ...present({ fault: usd ?? undefined }) }
}

/** Reads an x402 offer that may give the coin by its symbol, and the amount in dollars. */
function readX402Way(value: Record<string, unknown>, named: string): Way {
  const network = toChain(named)
  const symbol = textOf(value.asset ?? value.token ?? value.currency) ?? ''
  const coin = network === null || !isDollar(symbol) ? null : usdAssetOf(network, TEST_COINS)
  const asset = coin?.address ?? value.asset
  const offer = readX402Offer({ ...value, ...(typeof asset === 'string' && { asset }) })
  const isPriced = (value.amount ?? value.maxAmountRequired ?? null) !== null
  const price = (isPriced && offer?.price) || null
  const usd = typeof price === 'number' ? price : (readUsdOf(value, symbol) ?? price)
  return { rail: 'x402', network, payTo: payeeOf(value), ...toBounds(usd) }
}

/** The network as CAIP-2; a test network that is in no table stays as written, so that it is recognised as one. */
function toChain(name: string): string | null {
  return toCaip2(name) ?? (isTestNetwork(name) ? name : null)
}

const TEST_COINS = { allowTestCoins: true }

/** An amount in dollars, written with a decimal point, next to the coin's symbol. */
function readUsdOf(value: Record<string, unknown>, symbol: string): number | null {
  const { amount } = value
  const isDecimal = typeof amount === 'string' && /^\d+\.\d+$/.test(amount) && isDollar(symbol)
  return isDecimal ? readUsd(amount) : null
}

function isHttpMethod(method: unknown): boolean {
  return HTTP_METHODS.some((known) => known === method)
}

const PAYEES =
  `payTo pay_to recipient address wallet wallet_address walletAddress receiver_addresses`.split(' ')

/** One address, or several by network or by kind of chain (`evm`, `solana`). */
export function payeesOf(value: Record<string, unknown>): unknown {
  return PAYEES.map((name) => value[name]).find((each) => (each ?? null) !== null)
}

function payeeOf(value: Record<string, unknown>, network: string | null = null): string | null {
  const named = payeesOf(value)
  if (!isJsonObject(named)) return textOf(named)
  const isOn = (name: string) =>
    network !== null &&
    (toCaip2(name) === network || (name === 'evm' && network.startsWith('eip155:')))
  return textOf(Object.entries(named).find(([name]) => isOn(name))?.[1])
}

function chainOfMethod(method: string, value: Record<string, unknown>): string | null {
  const chain = memberOf(value.methodDetails, 'chainId') ?? value.chainId
  if (Number.isInteger(chain) && Number(chain) > 0) return `eip155:${chain}`
  if (method.toLowerCase() === 'tempo') return `eip155:${TEMPO_CHAIN_ID}`
  return toChain(textOf(value.network) ?? method)
}

/** An amount in a coin's base units, in a card's cents, or in dollars if the text has a decimal point. */
function readAmount(value: Record<string, unknown>, network: string | null) {
  const amount =
    textOf(value.amount) ?? (typeof value.amount === 'number' ? String(value.amount) : '')
  const currency = textOf(value.currency ?? value.asset) ?? ''
  if (/^\d+\.\d+$/.test(amount)) return isDollar(currency) ? readUsd(amount) : null
  const known = network === null ? null : decimalsOf(network, currency)
  const cents = currency.toLowerCase() === 'usd' ? 2 : 6
  const own = Number.isInteger(value.decimals) ? Number(value.decimals) : cents
  const decimals = known ?? coinDecimals(currency) ?? (isDollar(currency) && own <= 18 ? own : null)
  if (amount === '') return null
  const isOther = Number.isInteger(value.decimals) && value.decimals !== decimals
  return decimals === null || isOther ? unknownCoin(currency) : priceUnits(amount, decimals)
}

/** Names under which documents state a price in dollars. */
const FIXED =
  `price priceUsd price_usd priceUSD price_usdc priceUsdc amountUsd amount_usd usd`.split(' ')

/** A price in dollars, fixed or a range; null if only the 402 states the price. */
function readBounds(info: Record<string, unknown>): Bounds | null {
  const stated = FIXED.map((name) => info[name]).find((each) => (each ?? null) !== null)
  const inner = isJsonObject(stated) ? stated : { amount: stated ?? amountAlone(info) }
  const currency = textOf(inner.currency) ?? textOf(stated === undefined ? null : info.currency)
  if (currency !== null && !isDollar(currency) && coinDecimals(currency) === null) return null
  const min = readUsd(inner.min ?? inner.minPrice ?? info.minPrice ?? info.min_price ?? info.floor)
  const max = readUsd(
    inner.max ?? inner.maxPrice ?? info.maxPrice ?? info.max_price ?? info.ceiling,
  )
  if (min !== null && max !== null) return min <= max ? { min_usd: min, max_usd: max } : null
  const fixed = inner.amount ?? inner.value ?? inner.usd ?? inner.fixed
  const usd = readUsd(fixed)
  if (usd !== null) return { min_usd: usd, max_usd: usd }
  const words = typeof fixed === 'string' ? readPriceWords(fixed) : null
  return words === null ? null : { ...words.bounds, per: words.per }
}

/** An amount is in dollars only if no payment method or chain is next to it: their amounts are in base units. */
function amountAlone({ method, network, amount }: Record<string, unknown>): unknown {
  const isWay = typeof network === 'string' || (method !== undefined && !isHttpMethod(method))
  return isWay ? undefined : amount
}

function isDollar(currency: string): boolean {
  return /^(?:usd[a-z.]{0,2}|pathusd)$/i.test(currency)
}

/** @example readUsd('$0.01') → 0.01; readUsd('0.5 USDC') → 0.5; readUsd('free') → 0 */
function readUsd(value: unknown): number | null {
  if (typeof value === 'string' && /^free$/i.test(value.trim())) return 0
  const [, digits] =
    /^\$?(\d{1,9}(?:\.\d{1,18})?)(?: ?usd[a-z]?)?$/i.exec(String(value).trim()) ?? []
  const usd = typeof value === 'number' ? value : digits === undefined ? Number.NaN : Number(digits)
  return usd >= 0 && usd <= MAX_CALL_USD ? usd : null
}

/**
 * A price in words with both ends given: "$0.01 – $2.00" and "$0.006" are bounds, but "$0.04+" and
 * "$0.12/hr" do not limit what a call costs.
 */
function readPriceWords(text: string) {
  const amounts = [...text.slice(0, 200).matchAll(/\$(\d{1,6}(?:\.\d{1,8})?)/g)].map(([, digits]) =>
    Number(digits),
  )
  if (amounts.length === 0 || /\+/.test(text)) return null
  const bounds = { min_usd: smallestOf(amounts), max_usd: largestOf(amounts) }
  if (bounds.max_usd > MAX_CALL_USD) return null
  const isMetered = /\/(?!request\b|call\b)\w+|\bper (?!request\b|call\b)\w+/.test(text)
  return { bounds, per: isMetered ? ('other' as const) : ('call' as const) }
}

type Place = Pick<Way, 'rail' | 'network' | 'payTo'>

/** Payment protocols by name, each with what the document states about it. */
function protocolsOf(info: Record<string, unknown>): [string, Record<string, unknown>][] {
  const listed = [info.protocols ?? info.protocol ?? []].flat().slice(0, MAX_WAYS)
  const inline = Object.fromEntries(RAILS.map((rail) => [rail, info[rail]]))
  const objects = [...listed, inline].flatMap((each) =>
    isJsonObject(each) ? Object.entries(each) : [],
  )
  return [
    ...listed.flatMap((each) => (typeof each === 'string' ? [[each, {}] as const] : [])),
    ...objects,
  ].flatMap(([name, entry]) => (isJsonObject(entry) ? [[name.toLowerCase(), entry]] : []))
}

/** A protocol's own amount, written as an offer. */
function toNamedWay([method, entry]: [string, Record<string, unknown>]): object[] {
  return (entry.amount ?? null) === null ? [] : [{ method, ...entry }]
}

/** The protocols that take payment, each with its own networks and payees, or else with the document's. */
function readProtocols(info: Record<string, unknown>): Place[] {
  const method = textOf(info.method)
  const named = protocolsOf(info)
  if (named.length === 0 && method !== null) named.push([method === 'x402' ? 'x402' : 'mpp', {}])
  return named.flatMap(([name, entry]): Place[] => {
    const rail = RAILS.find((each) => each === name)
    if (rail === undefined) return []
    const member = (key: string) => entry[key] ?? info[key] ?? memberOf(info.price, key)
    const networks = [member('networks') ?? member('network') ?? []].flat()
    const chains = networks.flatMap((each) =>
      typeof each === 'string' ? (toChain(each) ?? []) : [],
    )
    const way = textOf(entry.method) ?? method ?? ''
    const chain = rail === 'mpp' ? chainOfMethod(way, { ...info, ...entry }) : null
    const places = chains.length > 0 ? chains : [chain]
    return places.map((network) => {
      const payTo = payeeOf(entry, network) ?? payeeOf(info, network)
      return { rail, network, payTo }
    })
  })
}

/** A text that is not empty. */
export function textOf(value: unknown): string | null {
  return typeof value === 'string' && value !== '' ? value : null
}

/**
 * One way to pay as x402 writes it, whether in a 402, a manifest, a catalogue row, an OpenAPI
 * document or a tool's terms. Version 2 calls the amount `amount`, version 1 `maxAmountRequired`.
 */
export interface X402Offer {
  scheme: string
  /** CAIP-2 if we know the name, else as written. */
  network: string
  asset: string
  /** Whole base units, as written; '' if none is named. */
  amount: string
  payTo: string | null
  /** The price of one call in USD, or the reason it has no price. */
  price: number | PriceFault
  /** The payee as CAIP-10; null if the payee is not an account on the network. */
  payout: string | null
  /** Everything that a payer signs; null if the offer lacks part of it. */
  accept: Accept | null
}

/** Why an amount cannot be read as a price in dollars. */
interface PriceFault {
  reason:
    | 'test_network'
    | 'unsupported_network'
    | 'ceiling_price'
    | 'unknown_asset'
    | 'malformed_amount'
    | 'price_too_high'
  detail: string
  /** The amount, if it is too high to be a price. */
  usd?: number
}

/** A higher price per call is a ceiling, a decoy, or a mistake in decimals (USD). */
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

/** Whether test networks' coins, which are worth nothing, have a price. */
interface CoinRules {
  allowTestCoins: boolean
}
const MAIN_ONLY: CoinRules = { allowTestCoins: false }

/** @returns null for anything that is not a way to pay */
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

/** Whether a payee is nobody's wallet: words from a template, or an example's zero, burn or counted-up address. */
function isPlaceholderWallet(wallet: string | null): boolean {
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
  // The amount of any other scheme is a ceiling, not a price.
  if (scheme !== 'exact')
    return faultOf('ceiling_price', `expected an exact amount, got the scheme ${shown(scheme)}`)
  const decimals = decimalsOf(network, asset, rules)
  return decimals === null ? unknownCoin(asset, ` on ${network}`) : priceUnits(amount, decimals)
}

/** The most digits in an amount: no real amount has more, and longer ones would only cost time. */
const MAX_DIGITS = 40

/**
 * Converts whole base units to dollars through BigInt and text, because floating point would make
 * 0.1 + 0.2 wrong.
 * @example priceUnits('3000', 6) → 0.003
 */
function priceUnits(amount: string, decimals: number): number | PriceFault {
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

function unknownCoin(asset: string, place = ''): PriceFault {
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
 * Decimals of more dollar coins that priced endpoints name, by chain and contract. They are used
 * only for prices: a price is a claim, a settlement is proof. A coin in neither table has no price
 * in dollars, because one cent at 18 decimals, read at 6, would be ten billion dollars.
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

/** @returns null for a coin not known to be worth a dollar */
function decimalsOf(network: string, asset: string, rules = MAIN_ONLY): number | null {
  const coin = network.startsWith('eip155:') ? asset.toLowerCase() : asset
  const counted = usdAssetOf(network, rules)
  if (counted?.address === coin) return counted.decimals
  const key = `${network}:${coin}`
  return Object.hasOwn(CLAIMED_COINS, key) ? (CLAIMED_COINS[key] ?? null) : null
}

/** The decimals by contract or mint alone, if no chain is named; null if chains disagree. */
function coinDecimals(asset: string): number | null {
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

/** Limits for a listing's evidence; a longer description is cut and marked as such. */
const MAX_OPERATIONS = 100

const MAX_TEXT = 300

/** What a seller's own document states about its API. */
export type DescribedApi = ReturnType<typeof toDescribedApi>

const schema = createOperationSchema({ allowPrivate: false })

/** Keeps only the first operations if there are many. */
export function toDescribedApi(
  about: { title: string | null; description: string | null },
  described: readonly Described[],
  payments: readonly StatedPayment[],
) {
  const placeholder = payments.map((each) => each.placeholder).find((each) => each !== undefined)
  return {
    ...about,
    operations: described.slice(0, MAX_OPERATIONS).map(({ operation }) => operation),
    /** CAIP-10. */
    payees: [...new Set(payments.flatMap(({ payees }) => payees))],
    /** A text found in place of a payee. */
    ...present({ placeholder }),
    truncated: described.length > MAX_OPERATIONS,
  }
}

/** The first of several readings that is a valid operation by our rules. */
export function firstSound(readings: readonly Operation[]): Operation | null {
  const isSound = (each: Operation) =>
    v.is(schema, each) && findOperationFaults({ http: [each] }).length === 0
  return readings.find(isSound) ?? null
}

export interface Described {
  operation: Operation
  payment: StatedPayment
}

/** One line of a seller's words, cut to length. */
export function lineOf(value: unknown): string | null {
  if (typeof value !== 'string') return null
  const line = value.replace(/[\p{Cc}\p{Cf}\u2028\u2029]+|\s+/gu, ' ').trim()
  return line === '' ? null : [...line].slice(0, MAX_TEXT).join('').trim()
}
