import { normalizePayout, toNetworkName } from '../listing/networks.ts'
import { toUsd } from '../listing/pricing.ts'
import { readPaymentRequired } from '../relay/payments.ts'
import { readOffer } from '../relay/pins.ts'
import { toCaip2 } from '../trust/usd-assets.ts'
import { isJsonObject } from '../wire/json.ts'
import type { Rail } from '../wire/vocabulary.ts'
import type { KitView } from './kit-view.ts'

/** One of the ways to pay in a seller's 402, with what the directory expected. */
export interface RequestedOffer {
  /** The offer as the seller wrote it; a payment returns it unchanged. */
  offer: Record<string, unknown>
  /** CAIP-2; null if the name is unknown. */
  chain: string | null
  /** Null for a coin without a known value in dollars. */
  usd: number | null
  /** The seller's terms next to what the directory expected. */
  rows: TermRow[]
}

export interface TermRow {
  label: string
  requested: string
  /** The directory's own value; empty if it knows none. */
  expected: string
  differs: boolean
}

export interface RequestedTerms {
  version: 1 | 2
  /** The whole 402, for members that a payment repeats. */
  terms: Record<string, unknown>
  offers: RequestedOffer[]
}

type Listed = Pick<KitView['operations'][number], 'price' | 'offers'>

/**
 * Parses the seller's own x402 402 response.
 * @param headers by lower-case name
 * @param payees CAIP-10, as the directory knows them; empty if it knows none
 * @returns null if the 402 has no readable terms
 */
export function readRequestedTerms(
  { headers, body }: { headers: Record<string, string>; body: string },
  listed: Listed,
  payees: readonly string[],
): RequestedTerms | null {
  const terms = readPaymentRequired(headers, body)
  const accepts = terms?.accepts
  if (terms === null || !Array.isArray(accepts)) return null
  const version = terms.x402Version === 1 ? 1 : 2
  const offers = accepts.slice(0, MAX_OFFERS).flatMap((offer) => {
    if (!isJsonObject(offer)) return []
    const { payee, usd } = readOffer(offer, { allowTestCoins: true })
    const { network, payTo, amount, maxAmountRequired } = offer
    const chain = toCaip2(String(network))
    const words = {
      price: `${String(amount ?? maxAmountRequired)} units`,
      ...{ network: String(network), payee: String(payTo) },
    }
    const rows = toTermRows({ rail: 'x402', chain, usd, payee, words }, listed, payees)
    return { ...{ offer, chain, usd }, rows }
  })
  return { version, terms, offers }
}

interface Term {
  rail: Rail
  /** CAIP-2. */
  chain: string | null
  usd: number | null
  /** CAIP-10. */
  payee: string | null
  /** The seller's own words, for what cannot be parsed. */
  words: { price: string; network: string; payee: string }
}

/** The seller's terms, by whatever protocol, next to what the directory expected. */
export function toTermRows(term: Term, listed: Listed, payees: readonly string[]): TermRow[] {
  return [
    priceRow(term, listed),
    networkRow(term, listed),
    payeeRow(term, payees.map(normalizePayout)),
  ]
}

/** If there are more ways to pay than this, the rest are not shown. */
const MAX_OFFERS = 12

function networkRow({ rail, chain, words }: Term, { offers = [] }: Listed): TermRow {
  const listed = offers.flatMap((offer) =>
    offer.rail === rail && offer.network !== undefined ? [offer.network] : [],
  )
  return {
    label: 'Network',
    requested: toNetworkName(chain ?? words.network),
    expected: [...new Set(listed)].map(toNetworkName).join(', '),
    differs: listed.length > 0 && !listed.some((network) => network === chain),
  }
}

function priceRow({ rail, chain, usd, words }: Term, { price, offers = [] }: Listed): TermRow {
  const own = offers.find((offer) => offer.rail === rail && offer.network === chain)
  const expected = own?.max_usd === undefined ? (price?.per === 'call' ? price : undefined) : own
  const most = expected?.max_usd
  return {
    label: 'Price',
    requested: usd === null ? words.price : toUsd(usd),
    expected: most === undefined ? '' : `at most ${toUsd(most)}`,
    differs: usd !== null && most !== undefined && usd > most + ROUNDING,
  }
}

/** @param known the payees that the directory knows, as normalised CAIP-10 */
function payeeRow({ payee, words }: Term, known: readonly string[]): TermRow {
  const chain = payee?.slice(0, payee.lastIndexOf(':') + 1)
  const own = known.filter((each) => chain !== undefined && each.startsWith(chain))
  return {
    label: 'Paid to',
    requested: words.payee,
    expected: own.map((each) => each.slice(each.lastIndexOf(':') + 1)).join(', '),
    differs: known.length > 0 && (payee === null || !known.includes(normalizePayout(payee))),
  }
}

/** A price difference up to this is rounding: it is less than the smallest unit of any coin (US dollars). */
const ROUNDING = 1e-9
