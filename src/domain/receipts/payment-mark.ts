import { normalizePayout } from '../listing/caip-account.ts'
import { readSignedPayee } from '../pins/expectation.ts'
import { readSolanaTransfer } from '../settlement/solana-transfer.ts'
import { tokenAccountOf } from '../settlement/token-account.ts'
import { toCaip2 } from '../settlement/usd-assets.ts'
import type { LedgerPayment } from '../trust/ledger-payment.ts'
import { normalizeWallet } from '../wash/wash-rules.ts'
import { memberOf } from '../wire/parse-json.ts'

/** Marks of a request's payments, to find them among those that the meter reads. */
export interface PaymentMarks {
  /** Payer and payee. Anybody can write this. */
  payment: string
  /**
   * The same with the nonce that its payer signed (EIP-3009); null under other schemes. Until the
   * payment is on its chain, only its payer and the seller who got it know it.
   */
  authorization: string | null
}

/**
 * Null where payer and payee cannot be read, also for a request with two payers, in two payments or
 * in two members of one: a seller takes the one that pays, and the other could be anybody.
 */
export function toPaymentMarks(payments: readonly object[]): PaymentMarks | null {
  const [first, ...others] = payments.map(readMarks)
  const isSame = (marks: PaymentMarks | null) =>
    marks?.payment === first?.payment && marks?.authorization === first?.authorization
  return others.every(isSame) ? (first ?? null) : null
}

/** Members of a payload that name the payer: each scheme has one of them. */
const PAYING = ['authorization', 'permit2Authorization', 'channelConfig', 'from', 'transaction']

function readMarks(payment: object): PaymentMarks | null {
  const payload = memberOf(payment, 'payload')
  if (PAYING.filter((name) => memberOf(payload, name) !== undefined).length !== 1) return null
  const payer = readPayer(payload)
  const payee = payer === null ? null : readSignedPayee(payment)
  if (payer !== null && payee !== null) {
    const mark = toMark(payee, payer)
    const nonce = readNonce(payload)
    return { payment: mark, authorization: nonce === null ? null : `${mark} ${nonce}` }
  }
  const transfer = readSolanaTransfer(memberOf(payload, 'transaction'))
  if (transfer === null) return null
  const network = memberOf(memberOf(payment, 'accepted') ?? payment, 'network')
  const account = `${toCaip2(String(network))}:${transfer.destination}`
  return { payment: toMark(account, transfer.authority), authorization: null }
}

/** The second mark, for a payment that a chain shows with its authorisation. */
export function authorizationMarkOf(
  { network, payee, payer }: Pick<LedgerPayment, 'network' | 'payee' | 'payer'>,
  nonce: string,
): string {
  return `${toMark(`${network}:${payee}`, payer)} ${nonce.toLowerCase()}`
}

/**
 * The first mark of payments that the meter read. On Solana a client signs for the payee's token
 * account, which takes a while to compute.
 */
export function createPaymentMarks(): (payment: LedgerPayment) => string {
  const accounts = new Map<string, string | null>()
  return ({ network, asset, payee, payer }) => {
    if (!network.startsWith('solana:')) return toMark(`${network}:${payee}`, payer)
    const key = `${payee} ${asset}`
    const account = accounts.get(key) ?? tokenAccountOf(payee, asset)
    accounts.set(key, account)
    return toMark(`${network}:${account}`, payer)
  }
}

function toMark(payee: string, payer: string): string {
  return `${normalizePayout(payee)} ${normalizeWallet(payer)}`
}

/** Of x402 by authorisation, Permit2 and channel; of MPP by authorisation. */
function readPayer(payload: unknown): string | null {
  const payer = [
    memberOf(memberOf(payload, 'authorization'), 'from'),
    memberOf(memberOf(payload, 'permit2Authorization'), 'from'),
    memberOf(memberOf(payload, 'channelConfig'), 'payer'),
    memberOf(payload, 'from'),
  ].find((each) => typeof each === 'string')
  return typeof payer === 'string' && /^[\w]{20,100}$/.test(payer) ? payer : null
}

/** Of x402, and of MPP, which has no member around it. */
function readNonce(payload: unknown): string | null {
  const nonce = memberOf(memberOf(payload, 'authorization') ?? payload, 'nonce')
  return typeof nonce === 'string' && /^0x[\da-f]{64}$/i.test(nonce) ? nonce.toLowerCase() : null
}
