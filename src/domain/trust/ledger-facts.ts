import * as v from 'valibot'
import { normalizePayout, PayoutSchema } from '../listing/networks.ts'
import { count, DAY_MS, InstantSchema, textLike } from '../wire/shapes.ts'
import type { DeliveryVerdict } from '../wire/vocabulary.ts'
import type { Evidence } from './evidence.ts'
import { COUNTED_SCHEMES } from './payments.ts'
import { TRUST } from './trust.ts'
import { WASH_FLAGS } from './wash.ts'

/** How often searches showed a listing or people clicked it in 90 days; `outside` leaves out our own pages. */
export interface Demand {
  all: number
  outside: number
}

export interface AcceptedDispute {
  /** When the dispute was accepted, in milliseconds. */
  at: number
  /** The note by the person who accepted the dispute; may be empty. */
  note: string
}

export interface OwnerFacts {
  /** The proved host, by the id of a listing with a verified claim. */
  claimed: ReadonlyMap<string, string>
  /** When that host was proved, in milliseconds. */
  provedAt: ReadonlyMap<string, number>
  /** The proved host, by the id of a listing whose seller wants it removed. */
  optedOut: ReadonlyMap<string, string>
  /** The new id of a removed listing according to its owner, by former id. */
  moved: ReadonlyMap<string, string>
  /** Payouts (CAIP-10) proved by the owner of a listing's claim, by id. */
  provenPayouts: ReadonlyMap<string, readonly string[]>
  /** Results of a server's own probes, by listing id. */
  probed: ReadonlyMap<string, Evidence>
  /** Accepted disputes, by listing id. */
  disputes: ReadonlyMap<string, readonly AcceptedDispute[]>
  /** Appearances in searches, and clicks, in 90 days, by listing id. */
  demand: ReadonlyMap<string, Demand>
}

/** The fields of a receipt in the ledger from which figures are made. */
export interface JudgedCall {
  listing_id: string
  /** The operation's method and address. */
  call: string
  /** Milliseconds. */
  called_at: number
  /** Hash of payee and payer. */
  payment: string
  transaction: string | null
  /** Whether the seller's answer names the transaction. */
  isNamed: boolean
  /** The transaction in which the meter saw the nonce that the call's payer signed. */
  settled: string | null
  verdict: DeliveryVerdict
}

/** Payments that this service itself saw on chains. */
export interface PaymentFacts {
  /** End of the window, in milliseconds. */
  asOf: number
  /** Payments in the last ninety days, each with its verdict. */
  payments: readonly LedgerPayment[]
  /** Payouts that the meter reads: listings with these payouts use only our own figures. */
  payees: readonly LedgerPayee[]
}

/** A complete day of receipts as published, and its file: the receipts' SHA-256, sorted, one per line. */
export interface DayOfReceipts {
  day: string
  receipts: number
  sha256: string
  key: string
  signature: string
  file: string
}

interface ReceiptFacts {
  /** Paid calls in the window that the relay judged. */
  judgedCalls: readonly JudgedCall[]
  /** Days of receipts, oldest first. */
  receiptDays: readonly DayOfReceipts[]
}

/** The ledger's facts for the next build. Empty without a ledger: the build is then unchanged. */
export interface LedgerFacts extends OwnerFacts, PaymentFacts, ReceiptFacts {}

export const NO_PAYMENT_FACTS: PaymentFacts = {
  asOf: 0,
  payments: [],
  payees: [],
}

export const NO_LEDGER_FACTS: LedgerFacts = {
  claimed: new Map(),
  provedAt: new Map(),
  optedOut: new Map(),
  moved: new Map(),
  provenPayouts: new Map(),
  probed: new Map(),
  disputes: new Map(),
  demand: new Map(),
  ...NO_PAYMENT_FACTS,
  judgedCalls: [],
  receiptDays: [],
}

/**
 * The verdict on a payment: that it is counted, or why not. Limits on one buyer's payments are no
 * verdict, since the score itself applies them.
 */
const VERDICTS = [
  'counted',
  ...WASH_FLAGS,
  /** Anybody can make a transfer of zero in anybody's name. */
  'nothing_paid',
  /** No seller proved the payee, and nobody published it for a known seller. */
  'payee_not_owned',
  /** It has not been traced yet where the payer's money came from. */
  'payer_untraced',
] as const

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(200))
const listings = v.array(text)

/** One payment that the meter read: a line in the published ledger. */
export const LedgerPaymentSchema = v.strictObject({
  network: text,
  transaction: text,
  /** Index of the transfer's log; 0 on a chain that has none. */
  log: count,
  /** ISO 8601 in the file, milliseconds in memory: a month may have a million payments. */
  at: v.pipe(InstantSchema, v.transform(Date.parse)),
  /** The coin's contract or mint. */
  asset: text,
  /** The coin's smallest units. */
  amount: textLike(/^\d{1,78}$/, 'expected a whole number in decimal digits'),
  /** Millionths of a US dollar. */
  usd_micro: count,
  /** EVM addresses in lower case. */
  payer: text,
  payee: text,
  /** Null in payments that an older version recorded. */
  scheme: v.nullable(v.picklist(COUNTED_SCHEMES)),
  /** The listings that are paid: a single one if the relay's notes name it. */
  listings,
  verdict: v.picklist(VERDICTS),
})

/** A payee's owner: a line in the published payees. */
const LedgerPayeeSchema = v.strictObject({
  payee: PayoutSchema,
  /** The seller's domain. */
  owner: text,
  proof: v.picklist(['signature', 'published']),
  listings,
})

export type Verdict = (typeof VERDICTS)[number]
export type LedgerPayment = v.InferOutput<typeof LedgerPaymentSchema>
export type LedgerPayee = v.InferOutput<typeof LedgerPayeeSchema>

/** A payment as in the published file: its members in order, and no others. */
export function toPublishedPayment(row: LedgerPayment): v.InferInput<typeof LedgerPaymentSchema> {
  return {
    network: row.network,
    transaction: row.transaction,
    log: row.log,
    at: new Date(row.at).toISOString(),
    asset: row.asset,
    amount: row.amount,
    usd_micro: row.usd_micro,
    payer: row.payer,
    payee: row.payee,
    scheme: row.scheme,
    listings: row.listings,
    verdict: row.verdict,
  }
}

/** Looks up the network first: a joined key would have to be hashed for each of a million payments. */
export function createPayeeLookup(payees: readonly LedgerPayee[]) {
  const networks = new Map<string, Map<string, LedgerPayee>>()
  for (const row of payees) {
    const account = normalizePayout(row.payee)
    const at = account.lastIndexOf(':')
    const network = account.slice(0, at)
    const own = networks.get(network) ?? new Map<string, LedgerPayee>()
    networks.set(network, own.set(account.slice(at + 1), row))
  }
  return ({ network, payee }: Pick<LedgerPayment, 'network' | 'payee'>): LedgerPayee | undefined =>
    networks.get(network)?.get(payee)
}

/** `GET /api/v1/trust/payees.json`: together with the payment rows, everything a score is computed from. */
export const TrustPayeesSchema = v.object({
  /** End of the window; null without a meter. */
  as_of: v.nullable(InstantSchema),
  /** Domains of the known sellers: payments to them vouch for a buyer. Sellers of money equivalents are left out. */
  seeds: v.array(text),
  payees: v.array(LedgerPayeeSchema),
})
export type TrustPayees = v.InferOutput<typeof TrustPayeesSchema>

/** The content of both files; scores are computed from nothing else. */
export interface LedgerFiles extends Omit<TrustPayees, 'as_of'> {
  as_of: string
  payments: readonly LedgerPayment[]
}

const FileSchema = v.object({ url: v.string(), bytes: count, sha256: v.string() })

/** The location of the rows, in `/api/v1/stats`. */
export const TrustLedgerSchema = v.object({
  as_of: v.nullable(InstantSchema),
  payments: count,
  ndjson: FileSchema,
  gz: FileSchema,
  payees: FileSchema,
})
export type TrustLedgerFacts = v.InferOutput<typeof TrustLedgerSchema>

export const WINDOW_MS = TRUST.windowDays * DAY_MS

/** The number of a payment's window: 0 for the window that ends with `asOf`, 1 for the window before it; negative for later windows. */
export function windowOf(at: number, asOf: number): number {
  return Math.floor((asOf - at) / WINDOW_MS)
}
