import type { EvmCall, EvmLog } from './evm-log.ts'

/** Why a transaction does not prove the payment that was claimed; it is never asked about again. */
export type RefusalReason =
  | 'transaction_failed'
  | 'asset_not_allowed'
  | 'no_matching_transfer'
  | 'authorization_not_used'
  | 'call_differs'
  | 'memo_differs'
  | 'message_differs'
  | 'outside_call'

/** What one transaction shows, and what is looked for in it. */
export interface EvmEvidence {
  logs: readonly EvmLog[]
  /** Read for the schemes that need it alone. */
  call: EvmCall | null
  /** The coin's contract. */
  coin: string
  /** Published addresses of the listing, lower case. */
  payouts: readonly string[]
}

/** The log that moved the money, and whose it was. */
export interface FoundPayment {
  log: EvmLog
  payer: string
}

/** How the relay looks up a claim of one scheme. */
export interface EvmRule<Claim> {
  /** Whether logs are not enough: one more request for each look-up. */
  needsCall: boolean
  /** The same for all claims about one payment, whatever else they say of it. */
  keyOf(claim: Claim): string
  find(claim: Claim, evidence: EvmEvidence): FoundPayment | RefusalReason
}
