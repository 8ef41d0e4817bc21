import {
  readPaymentRequired,
  readReceipt,
  toPaymentHeader,
} from '../../../src/domain/doors/paid-call.ts'
import { readOffer, toSentences } from '../../../src/domain/pins/offer.ts'
import { judgePinned, type LockEntry } from './lock.ts'
import { WaypostError } from './waypost-error.ts'

/**
 * The signer: an `x402Client` of `@x402/core`, or anything that makes a payment payload from the
 * terms of a 402. This client never sees a key.
 */
export interface Wallet {
  /** The terms have the wallet library's own type, whichever library it is. */
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

/** The x402 terms of a 402; null where it uses another rail or none. */
export async function readTerms(response: Response): Promise<PaymentTerms | null> {
  const terms = readPaymentRequired(toRecord(response.headers), await response.clone().text())
  return terms !== null && hasAccepts(terms) ? terms : null
}

/** The seller's report on the settlement, where it gave one. */
export function receiptOf(response: Response): unknown {
  return readReceipt(toRecord(response.headers))
}

/**
 * A header that pays the cheapest of the offers within the budget, signed by the caller's wallet.
 *
 * @param pinned offers that a lock does not allow are never signed
 * @throws WaypostError `changed` or `over-budget` before anything is signed
 */
export async function signPayment(
  terms: PaymentTerms,
  { wallet, maxUsd, allowTestCoins = false }: PayWith,
  pinned?: LockEntry,
): Promise<{ name: string; value: string }> {
  const faults = terms.accepts.map((offer) => (pinned ? judgePinned(pinned, readOffer(offer)) : []))
  const allowed = terms.accepts.filter((_, at) => faults[at]?.length === 0)
  if (allowed.length === 0 && faults[0] !== undefined)
    throw new WaypostError('changed', `${toSentences(faults[0])} Nothing was signed.`, {
      status: 402,
    })
  const priced = allowed
    .map((offer) => ({ offer, usd: readOffer(offer, { allowTestCoins }).usd }))
    .filter((each): each is { offer: unknown; usd: number } => each.usd !== null)
    .sort((a, b) => a.usd - b.usd)
  const within = priced.filter(({ usd }) => usd <= maxUsd)
  const [cheapest] = priced
  if (within.length === 0)
    throw new WaypostError(
      'over-budget',
      cheapest === undefined
        ? 'The seller accepts no dollar coin this client knows; nothing was signed.'
        : `The seller asks for $${cheapest.usd}, the budget is $${maxUsd}; nothing was signed.`,
      { status: 402 },
    )
  const offered = { ...terms, accepts: within.map(({ offer }) => offer) }
  // Written by the seller: the wallet's library checks it by its own type.
  const payload = await wallet.createPaymentPayload(offered as never)
  const header = toPaymentHeader(payload)
  if (header === null) throw new WaypostError('unreadable', 'The wallet gave no x402 payment.')
  return header
}

function toRecord(headers: Headers): Record<string, string> {
  return Object.fromEntries(headers.entries())
}

function hasAccepts(terms: Record<string, unknown>): terms is PaymentTerms {
  return Array.isArray(terms.accepts)
}
