import { readMppReceipt, toMppHeader } from '../../../src/domain/doors/mpp-call.ts'
import { readReceipt, toPaymentHeader } from '../../../src/domain/doors/paid-call.ts'
import { isTestNetwork } from '../../../src/domain/listing/networks.ts'
import { readOffer } from '../../../src/domain/pins/offer.ts'
import { parseChallenges, toMppTerm } from '../../../src/domain/probe/read/mpp-terms.ts'
import { memberOf } from '../../../src/domain/wire/parse-json.ts'
import { readTerms, type Wallet } from './payment.ts'
import { WaypostError } from './waypost-error.ts'

/** The signers of both rails, at least one of them. */
export interface TaskWallet extends Partial<Wallet> {
  /** MPP: the value of `Authorization` for a 402, as `mppx`'s client makes it. */
  createCredential?(response: Response): Promise<unknown>
}

export interface PayRules {
  wallet: TaskWallet
  allowTestCoins: boolean
}

/** One way to pay a seller's price. */
export interface Quote {
  rail: 'x402' | 'mpp'
  usd: number
  /** CAIP-10; null where it is missing or unreadable. */
  payee: string | null
  /** Asks the wallet; nothing was signed before. @throws WaypostError `wallet-refused` */
  sign(): Promise<{ name: string; value: string }>
}

/** The offers of a 402, the cheapest first: those the wallet can sign, in known dollars. */
export async function readQuotes(response: Response, rules: PayRules): Promise<Quote[]> {
  const quotes = [...(await readX402(response, rules)), ...readMpp(response, rules)]
  return quotes.sort((a, b) => a.usd - b.usd)
}

async function readX402(response: Response, { wallet, allowTestCoins }: PayRules) {
  const { createPaymentPayload } = wallet
  const terms = createPaymentPayload === undefined ? null : await readTerms(response)
  return (terms?.accepts ?? []).flatMap((offer): Quote[] => {
    const { usd, payee } = readOffer(offer, { allowTestCoins })
    if (usd === null) return []
    const sign = async () => {
      // Written by the seller: the wallet's library checks it by its own type.
      const offered = { ...terms, accepts: [offer] } as never
      const payload = await refusable(() => wallet.createPaymentPayload?.(offered))
      return toPaymentHeader(payload) ?? refuse('an x402 payment')
    }
    return [{ rail: 'x402', usd, payee, sign }]
  })
}

function readMpp({ headers }: Response, { wallet, allowTestCoins }: PayRules): Quote[] {
  if (wallet.createCredential === undefined) return []
  const challenges = parseChallenges(headers.get('www-authenticate') ?? '')
  return challenges.flatMap(({ scheme, parameters }): Quote[] => {
    const term = scheme === 'payment' ? toMppTerm(parameters) : null
    if (term?.usd === null || term === null) return []
    if (!allowTestCoins && term.network !== null && isTestNetwork(term.network)) return []
    const sign = async () => {
      const asked = { 'www-authenticate': toChallenge(parameters) }
      const only = new Response(null, { status: 402, headers: asked })
      const signed = await refusable(() => wallet.createCredential?.(only))
      if (typeof signed === 'string') return { name: 'Authorization', value: signed }
      return toMppHeader(signed) ?? refuse('an MPP credential')
    }
    return [{ rail: 'mpp', usd: term.usd, payee: term.payout, sign }]
  })
}

function toChallenge(parameters: ReadonlyMap<string, string>): string {
  const pairs = [...parameters].map(
    ([name, value]) => `${name}="${value.replace(/[\\"]/g, '\\$&')}"`,
  )
  return `Payment ${pairs.join(', ')}`
}

async function refusable<Signed>(sign: () => Promise<Signed> | undefined) {
  try {
    return await sign()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : cause
    throw new WaypostError('wallet-refused', `The wallet signed nothing: ${why}`, { cause })
  }
}

function refuse(what: string): never {
  throw new WaypostError('wallet-refused', `The wallet gave something that is not ${what}.`)
}

/** The seller's report on a settlement, on either rail. */
export function receiptIn({ headers }: Response): unknown {
  const record = Object.fromEntries(headers.entries())
  return readReceipt(record) ?? readMppReceipt(record)
}

/** Whether the seller itself says that it took nothing. */
export function saysUnpaid(receipt: unknown): boolean {
  return memberOf(receipt, 'success') === false
}
