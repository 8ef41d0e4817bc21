import type { Measured } from './evidence.ts'

/** Searches and clicks on a listing in 90 days; `outside` leaves out those from our own pages. */
export interface Demand {
  all: number
  outside: number
}

/** What the ledger says to the next build. Empty without a ledger: the build is then unchanged. */
export interface LedgerFacts {
  /** The host that was proved, by id of a listing with a verified claim. */
  claimed: ReadonlyMap<string, string>
  /** The host that was proved, by id of a listing whose seller asked for removal. */
  optedOut: ReadonlyMap<string, string>
  /** Payouts (CAIP-10) that the owner of a listing's claim proved, by id. */
  provenPayouts: ReadonlyMap<string, readonly string[]>
  /** Searches and clicks in 90 days by listing id. */
  demand: ReadonlyMap<string, Demand>
  /** Settlements this service verified itself, as aggregates by listing id. */
  settlements: ReadonlyMap<string, Measured>
}

export const NO_LEDGER_FACTS: LedgerFacts = {
  claimed: new Map(),
  optedOut: new Map(),
  provenPayouts: new Map(),
  demand: new Map(),
  settlements: new Map(),
}
