import {
  readPaymentRequired,
  readReceipt,
  toPaymentHeader,
} from '../../../src/domain/doors/paid-call.ts'
import { toCaip2, usdAssetOf } from '../../../src/domain/settlement/usd-assets.ts'
import { WaypostError } from './waypost-error.ts'

/**
 * What signs: an `x402Client` of `@x402/core`, or anything that makes a payment payload out of the
 * terms of a 402. This client never sees a key.
 */
export interface Wallet {
  /** The terms are the wallet library's own type of them, whichever library it is. */
  createPaymentPayload(terms: never): Promise<object>
}

export interface PayWith {
  wallet: Wallet
  /** The most one call may cost, in US dollars; offers above it, or in no dollar we know, are never signed. */
  maxUsd: number
  /** Coins of test networks count as dollars too. */
  allowTestCoins?: boolean
}

/** The terms of a 402, as the seller wrote them. */
export type PaymentTerms = Record<string, unknown> & { accepts: unknown[] }

/** The terms of a 402 of x402; null where it speaks another rail or none. */
export async function readTerms(response: Response): Promise<PaymentTerms | null> {
  const terms = readPaymentRequired(toRecord(response.headers), await response.clone().text())
  return terms !== null && hasAccepts(terms) ? terms : null
}

/** The seller's word on the settlement, where it gave one. */
export function receiptOf(response: Response): unknown {
  return readReceipt(toRecord(response.headers))
}

/**
 * A header that pays the cheapest of the offers within the budget, signed by the caller's wallet.
 *
 * @throws WaypostError `over-budget` before anything is signed
 */
export async function signPayment(
  terms: PaymentTerms,
  { wallet, maxUsd, allowTestCoins = false }: PayWith,
): Promise<{ name: string; value: string }> {
  const priced = terms.accepts
    .map((offer) => ({ offer, usd: usdOf(offer, allowTestCoins) }))
    .filter((each): each is { offer: unknown; usd: number } => each.usd !== null)
    .sort((a, b) => a.usd - b.usd)
  const within = priced.filter(({ usd }) => usd <= maxUsd)
  const [cheapest] = priced
  if (within.length === 0)
    throw new WaypostError(
      'over-budget',
      cheapest === undefined
        ? 'The seller asks for no dollar coin this client knows; nothing was signed.'
        : `The seller asks for $${cheapest.usd}, the budget is $${maxUsd}; nothing was signed.`,
      { status: 402 },
    )
  const offered = { ...terms, accepts: within.map(({ offer }) => offer) }
  // What a seller wrote: the wallet's library judges it by its own type.
  const payload = await wallet.createPaymentPayload(offered as never)
  const header = toPaymentHeader(payload)
  if (header === null)
    throw new WaypostError('unreadable', 'The wallet gave something that is no x402 payment.')
  return header
}

/** @returns US dollars, null where the offer names no coin that is one for one. */
function usdOf(offer: unknown, allowTestCoins: boolean): number | null {
  const read = (name: string) =>
    typeof offer === 'object' && offer !== null ? Reflect.get(offer, name) : undefined
  const network = toCaip2(String(read('network')))
  const asset = network === null ? null : usdAssetOf(network, { allowTestCoins })
  const amount = String(read('amount') ?? read('maxAmountRequired') ?? '')
  if (asset === null || !isSame(asset.address, String(read('asset')))) return null
  return /^\d{1,30}$/.test(amount) ? Number(amount) / 10 ** asset.decimals : null
}

/** Addresses in hexadecimal differ by letter case as people write them; others mean it. */
function isSame(known: string, named: string): boolean {
  return known === (known.startsWith('0x') ? named.toLowerCase() : named)
}

function toRecord(headers: Headers): Record<string, string> {
  return Object.fromEntries(headers.entries())
}

function hasAccepts(terms: Record<string, unknown>): terms is PaymentTerms {
  return Array.isArray(terms.accepts)
}
