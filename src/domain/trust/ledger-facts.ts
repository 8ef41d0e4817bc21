import type { DeliveryVerdict } from '../wire/vocabulary.ts'
import type { Evidence } from './evidence.ts'
import type { LedgerPayee, LedgerPayment } from './ledger-payment.ts'

/** Searches and clicks on a listing in 90 days; `outside` leaves out those from our own pages. */
export interface Demand {
  all: number
  outside: number
}

export interface AcceptedDispute {
  /** When it was accepted, milliseconds. */
  at: number
  /** The note of the person who accepted it; may be empty. */
  note: string
}

export interface OwnerFacts {
  /** The host that was proved, by id of a listing with a verified claim. */
  claimed: ReadonlyMap<string, string>
  /** When that was, milliseconds. */
  provedAt: ReadonlyMap<string, number>
  /** The host that was proved, by id of a listing whose seller asked for removal. */
  optedOut: ReadonlyMap<string, string>
  /** The new id of a removed listing according to its owner, by id. */
  moved: ReadonlyMap<string, string>
  /** Payouts (CAIP-10) that the owner of a listing's claim proved, by id. */
  provenPayouts: ReadonlyMap<string, readonly string[]>
  /** Results of a server's own probes, by listing id. */
  probed: ReadonlyMap<string, Evidence>
  /** Accepted disputes, by listing id. */
  disputes: ReadonlyMap<string, readonly AcceptedDispute[]>
  /** Searches and clicks in 90 days by listing id. */
  demand: ReadonlyMap<string, Demand>
}

/** The fields of a receipt in the ledger that figures are made from. */
export interface JudgedCall {
  listing_id: string
  /** Method and address of the operation. */
  call: string
  /** Milliseconds. */
  called_at: number
  /** Hash of payee and payer. */
  payment: string
  transaction: string | null
  /** Whether the seller's answer names the transaction. */
  isNamed: boolean
  /** Where the meter saw the nonce that the call's payer signed. */
  settled: string | null
  verdict: DeliveryVerdict
}

/** Payments that this service itself saw on chains. */
export interface PaymentFacts {
  /** End of the window, milliseconds. */
  asOf: number
  /** Of the last ninety days, each with its verdict. */
  payments: readonly LedgerPayment[]
  /** Payouts the meter reads: for their listings only our own figures count. */
  payees: readonly LedgerPayee[]
}

/** A complete day of receipts as it is published, and its file: their SHA-256, sorted, a line each. */
export interface DayOfReceipts {
  day: string
  receipts: number
  sha256: string
  key: string
  signature: string
  file: string
}

export interface ReceiptFacts {
  /** Paid calls of the window that the relay judged. */
  judgedCalls: readonly JudgedCall[]
  /** Oldest first. */
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
