import { isTestNetwork } from '../../../src/domain/listing/networks.ts'
import { parseChallenges, toMppTerm } from '../../../src/domain/probe/finding.ts'
import {
  readMppReceipt,
  readPaymentRequired,
  readReceipt,
  toMppHeader,
  toPaymentHeader,
} from '../../../src/domain/relay/payments.ts'
import { readOffer, toSentences } from '../../../src/domain/relay/pins.ts'
import { RECEIPT_HEADER, RECEIPT_SECRET_HEADER } from '../../../src/domain/relay/receipt.ts'
import { judgePinned, type LockEntry } from './lock.ts'
import { WaypostError } from './waypost-error.ts'

/** The signer for either rail or both, with at least one method. This client never sees a key. */
export interface Wallet {
  /**
   * x402: an `x402Client` from `@x402/core`, or anything that makes a payment payload from the
   * terms of a 402. The terms have the wallet library's own type, whichever library it is.
   */
  createPaymentPayload?(terms: never): Promise<object>
  /** MPP: the value of `Authorization` for a 402, as `mppx`'s client makes it. */
  createCredential?(response: Response): Promise<unknown>
}

export interface PayWith {
  wallet: Wallet
  /** Most US dollars; offers above this, or in a coin that is not known to be a dollar, are never signed. */
  maxUsd: number
  /** Test networks' coins are treated as dollars too. */
  allowTestCoins?: boolean
}

/** The x402 terms in a 402, as the seller wrote them. */
export type PaymentTerms = Record<string, unknown> & { accepts: unknown[] }

interface Payment {
  name: string
  value: string
}

/** One way to pay a seller's price. */
export interface Quote {
  rail: 'x402' | 'mpp'
  usd: number
  /** CAIP-10. */
  payee: string
  /** Lets the wallet sign. @throws WaypostError `wallet-refused` */
  sign(): Promise<Payment>
}

/** The x402 terms in a 402; null if it uses another rail or none. */
export async function readTerms(response: Response): Promise<PaymentTerms | null> {
  const headers = toRecord(response.headers)
  // Since version 2 the terms are in this header, so the body is not read.
  const isInHeader = headers['payment-required'] !== undefined
  const terms = readPaymentRequired(headers, isInHeader ? '' : await response.clone().text())
  return terms !== null && hasAccepts(terms) ? terms : null
}

/**
 * The seller's offers that the wallet can sign, cheapest first, on either rail. Offers whose dollar price
 * or payee cannot be read are left out.
 * @param terms the x402 terms, as `readTerms` gives them
 */
export function readQuotes(
  { headers }: Response,
  terms: PaymentTerms | null,
  { wallet, allowTestCoins = false }: Omit<PayWith, 'maxUsd'>,
): Quote[] {
  const offers = wallet.createPaymentPayload === undefined ? [] : (terms?.accepts ?? [])
  const challenges = wallet.createCredential === undefined ? [] : challengesIn(headers)
  const quotes = [
    ...offers.map((offer) => {
      const sign = () => signX402(wallet, { ...terms, accepts: [offer] })
      return { rail: 'x402' as const, ...readOffer(offer, { allowTestCoins }), sign }
    }),
    ...challenges.map((parameters) => {
      const {
        usd = null,
        payout: payee = null,
        network,
      } = toMppTerm(Object.fromEntries(parameters)) ?? {}
      const isTest = network != null && isTestNetwork(network)
      const sign = () => signMpp(wallet, parameters)
      return { rail: 'mpp' as const, usd: isTest && !allowTestCoins ? null : usd, payee, sign }
    }),
  ]
  return quotes.filter(isComplete).sort((a, b) => a.usd - b.usd)
}

function isComplete<Offer extends { usd: number | null; payee: string | null }>(
  offer: Offer,
): offer is Offer & { usd: number; payee: string } {
  return offer.usd !== null && offer.payee !== null
}

/** The parameters of each `Payment` challenge. */
export function challengesIn(headers: Headers): Map<string, string>[] {
  const challenges = parseChallenges(headers.get('www-authenticate') ?? '')
  return challenges.flatMap(({ scheme, parameters }) => (scheme === 'payment' ? [parameters] : []))
}

/**
 * The payment for the cheapest quote that is within the budget and that the wallet signs.
 * @param pinned the lock's entry: quotes that it does not allow are never signed
 * @throws WaypostError `changed` or `over-budget` before anything is signed, `wallet-refused`
 */
export async function signCheapest(
  quotes: readonly Quote[],
  maxUsd: number,
  pinned?: LockEntry,
): Promise<{ quote: Quote; payment: Payment }> {
  const faults = quotes.map((quote) => (pinned ? judgePinned(pinned, quote) : []))
  const allowed = quotes.filter((_, at) => faults[at]?.length === 0)
  if (allowed.length === 0 && faults[0] !== undefined)
    throw refuse('changed', `${toSentences(faults[0])} Nothing was signed.`)
  const [cheapest] = allowed
  if (cheapest === undefined || cheapest.usd > maxUsd)
    throw refuse(
      'over-budget',
      cheapest === undefined
        ? 'The seller accepts no dollar coin that the wallet can pay with; nothing was signed.'
        : `The seller requires $${cheapest.usd}, but the budget is $${maxUsd}; nothing was signed.`,
    )
  const refusals: unknown[] = []
  for (const quote of allowed.filter(({ usd }) => usd <= maxUsd))
    try {
      return { quote, payment: await quote.sign() }
    } catch (refusal) {
      // The wallet may know the network of another offer.
      refusals.push(refusal)
    }
  throw refusals[0]
}

async function signX402(wallet: Wallet, terms: PaymentTerms): Promise<Payment> {
  const { x402Version = 'of the seller' } = terms
  const advice = `The seller uses x402 version ${x402Version}: npm install @x402/core @x402/evm (@x402/svm for Solana), and register its scheme in the wallet (registerV1 for version 1).`
  // The seller wrote these terms; the wallet's library checks them against its own type.
  const offered = terms as never
  const payload = await signed(() => wallet.createPaymentPayload?.(offered), advice)
  return toPaymentHeader(payload) ?? refuseOther('an x402 payment')
}

async function signMpp(wallet: Wallet, parameters: ReadonlyMap<string, string>): Promise<Payment> {
  const pairs = [...parameters].map(
    ([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&')}"`,
  )
  const headers = { 'www-authenticate': `Payment ${pairs.join(', ')}` }
  const only = new Response(null, { status: 402, headers })
  const credential = await signed(() => wallet.createCredential?.(only))
  if (typeof credential === 'string') return { name: 'Authorization', value: credential }
  return toMppHeader(credential) ?? refuseOther('an MPP credential')
}

/** A wallet throws if it does not know the protocol's version or the network. */
async function signed<Signed>(sign: () => Promise<Signed> | undefined, advice = '') {
  try {
    return await sign()
  } catch (cause) {
    const why = String(cause instanceof Error ? cause.message : cause).replace(/\.$/, '')
    throw refuse('wallet-refused', `The wallet did not sign: ${why}. ${advice}`.trim(), cause)
  }
}

function refuseOther(what: string): never {
  throw refuse('wallet-refused', `Expected ${what} from the wallet, got something else.`)
}

function refuse(code: string, detail: string, cause?: unknown): WaypostError {
  return new WaypostError(code, detail, { status: 402, cause })
}

/** The seller's report on a settlement, on either rail. */
export function receiptOf({ headers }: Response): unknown {
  const record = toRecord(headers)
  return readReceipt(record) ?? readMppReceipt(record)
}

/** The directory's receipt for a paid call that it relayed. */
export interface CallReceipt {
  id: string
  /** The salt of the receipt's hashes: only the caller has it. */
  secret: string
}

/** Undefined for an answer that the directory did not judge. */
export function callReceiptIn({ headers }: Response): CallReceipt | undefined {
  const id = headers.get(RECEIPT_HEADER)?.split('/').at(-1) ?? ''
  const secret = headers.get(RECEIPT_SECRET_HEADER) ?? ''
  return /^[\w-]{22}$/.test(id) && /^[\w-]{43}$/.test(secret) ? { id, secret } : undefined
}

function toRecord(headers: Headers): Record<string, string> {
  return Object.fromEntries(headers.entries())
}

function hasAccepts(terms: Record<string, unknown>): terms is PaymentTerms {
  return Array.isArray(terms.accepts)
}
