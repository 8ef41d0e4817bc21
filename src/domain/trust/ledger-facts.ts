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
  /** What the person who accepted it says of it; empty for nothing. */
  note: string
}

export interface OwnerFacts {
  /** The host that was proved, by id of a listing with a verified claim. */
  claimed: ReadonlyMap<string, string>
  /** The host that was proved, by id of a listing whose seller asked for removal. */
  optedOut: ReadonlyMap<string, string>
  /** Where owners say that a listing they took out is listed now, by id. */
  moved: ReadonlyMap<string, string>
  /** Payouts (CAIP-10) that the owner of a listing's claim proved, by id. */
  provenPayouts: ReadonlyMap<string, readonly string[]>
  /** What a server's own probes saw, by listing id. */
  probed: ReadonlyMap<string, Evidence>
  /** What people accepted of what was disputed, by listing id. */
  disputes: ReadonlyMap<string, readonly AcceptedDispute[]>
  /** Searches and clicks in 90 days by listing id. */
  demand: ReadonlyMap<string, Demand>
}

/** A receipt as the ledger has it, as far as figures are made from it. */
export interface WitnessedCall {
  listing_id: string
  /** Method and address of the operation. */
  call: string
  /** Milliseconds. */
  called_at: number
  /** Hash of payee and payer. */
  payment: string
  /** As the seller's answer names it. */
  transaction: string | null
  /** Where the meter saw what the call's payer had signed. */
  settled: string | null
  verdict: DeliveryVerdict
}

/** What was paid, as far as this service saw it on chains itself. */
export interface PaymentFacts {
  /** End of the window, milliseconds. */
  asOf: number
  /** Of the last ninety days, with what became of each. */
  payments: readonly LedgerPayment[]
  /** Those that the meter reads: for their listings our own figures alone count. */
  payees: readonly LedgerPayee[]
  /** Paid calls of the window that the relay witnessed. */
  witnessed: readonly WitnessedCall[]
}

/** What the ledger says to the next build. Empty without a ledger: the build is then unchanged. */
export interface LedgerFacts extends OwnerFacts, PaymentFacts {}

export const NO_PAYMENT_FACTS: PaymentFacts = {
  asOf: 0,
  payments: [],
  payees: [],
  witnessed: [],
}

export const NO_LEDGER_FACTS: LedgerFacts = {
  claimed: new Map(),
  optedOut: new Map(),
  moved: new Map(),
  provenPayouts: new Map(),
  probed: new Map(),
  disputes: new Map(),
  demand: new Map(),
  ...NO_PAYMENT_FACTS,
}
