import type { KitView } from '../../domain/kit/kit-view.ts'
import { normalizePayout, toNetworkName } from '../../domain/listing/networks.ts'
import { toUsd } from '../../domain/operation/price-text.ts'
import { readOffer } from '../../domain/pins/expectation.ts'
import { readPaymentRequired } from '../../domain/protocols/paid-call.ts'
import { toCaip2 } from '../../domain/settlement/usd-assets.ts'
import { isJsonObject } from '../../domain/wire/json.ts'

/** One of the ways to pay in a seller's 402, with what the directory expected. */
export interface AskedOffer {
  /** As the seller wrote it: it is returned unchanged in the payment. */
  offer: Record<string, unknown>
  /** CAIP-2; null where the name is unknown. */
  chain: string | null
  network: string
  /** Null for a coin without a known value in dollars. */
  usd: number | null
  payee: string
  /** What differs from the listing, one sentence each. */
  drift: string[]
}

export interface AskedTerms {
  version: 1 | 2
  /** The whole 402, for members that a payment repeats. */
  terms: Record<string, unknown>
  offers: AskedOffer[]
}

type Listed = Pick<KitView['operations'][number], 'price' | 'offers'>

/**
 * Reads the seller's own 402 of x402.
 *
 * @param headers by lower-case name
 * @param payees CAIP-10, as the directory knows them; empty where it knows none
 * @returns null where it has no readable terms
 */
export function readAskedTerms(
  { headers, body }: { headers: Record<string, string>; body: string },
  listed: Listed,
  payees: readonly string[],
): AskedTerms | null {
  const terms = readPaymentRequired(headers, body)
  const accepts = terms?.accepts
  if (terms === null || !Array.isArray(accepts)) return null
  const version = terms.x402Version === 1 ? 1 : 2
  const known = payees.map(normalizePayout)
  const offers = accepts.slice(0, MAX_OFFERS).flatMap((offer) => {
    if (!isJsonObject(offer)) return []
    const { payee, usd } = readOffer(offer, { allowTestCoins: true })
    const chain = toCaip2(String(offer.network))
    return {
      ...{ offer, chain, usd },
      network: toNetworkName(chain ?? String(offer.network)),
      payee: String(offer.payTo),
      drift: [
        ...driftOfNetwork(chain, listed),
        ...driftOfPrice({ chain, usd }, listed),
        ...(known.length === 0 || (payee !== null && known.includes(normalizePayout(payee)))
          ? []
          : ['This payee is not the one the directory knows.']),
      ],
    }
  })
  return { version, terms, offers }
}

/** More ways to pay than this are not shown. */
const MAX_OFFERS = 12

function driftOfNetwork(chain: string | null, { offers = [] }: Listed): string[] {
  const listed = offers.filter(({ rail }) => rail === 'x402')
  const isListed = listed.length === 0 || listed.some(({ network }) => network === chain)
  return isListed ? [] : ['The listing does not name this network.']
}

function driftOfPrice(
  { chain, usd }: Pick<AskedOffer, 'chain' | 'usd'>,
  { price, offers = [] }: Listed,
): string[] {
  const own = offers.find(({ rail, network }) => rail === 'x402' && network === chain)
  const expected = own?.max_usd === undefined ? (price?.per === 'call' ? price : undefined) : own
  if (usd === null || expected?.max_usd === undefined || usd <= expected.max_usd + ROUNDING)
    return []
  return [`The listing says at most ${toUsd(expected.max_usd)}.`]
}

/** Less than any coin's smallest unit, US dollars. */
const ROUNDING = 1e-9
