import type { CountedScheme } from './schemes/schemes.ts'

/** One payment found on a chain: a token transfer from a payer to a published payout. */
export interface Settlement {
  network: string
  transaction: string
  /** Index of the transfer's log (EVM); 0 where a chain has none. */
  log_index: number
  listing_id: string
  payer: string
  payee: string
  /** US dollars. */
  usd: number
  /** Smallest units of the token, decimal text: equal amounts compare exactly. */
  amount: string
  /** Time of the block, milliseconds since the epoch. */
  at: number
  /** Height of the block; null where nobody wrote it down. */
  block: number | null
  /** How it was paid; null where nobody wrote it down. */
  scheme: CountedScheme | null
}

/** Any transfer of an allow-listed token between wallets we know of; for wash rules alone. */
export interface Transfer {
  network: string
  transaction: string
  log_index: number
  from: string
  to: string
  amount: string
  at: number
  block: number | null
  /** Whether code stands at `from`: exchanges and pools pass on everybody's money. Null: not asked. */
  from_contract: boolean | null
}

/** What looking at a transaction came to. `wait` is asked again later; `refused` never. */
export type SettlementVerdict =
  | { outcome: 'counted'; settlement: Omit<Settlement, 'listing_id'> }
  | { outcome: 'refused'; reason: RefusalReason }
  | { outcome: 'wait'; reason: WaitReason }

/** Why a transaction does not prove the payment that was claimed; it is never asked about again. */
export type RefusalReason =
  | 'transaction_failed'
  | 'asset_not_allowed'
  /** The payer did not agree to it in this transaction. */
  | 'consent_not_found'
  | 'no_matching_transfer'
  | 'outside_call'

export type WaitReason =
  | 'not_mined'
  | 'too_few_confirmations'
  | 'reorganised'
  | 'rpc_unavailable'
  | 'earlier_claim'

/** The relayed call a settlement was reported on; milliseconds since the epoch. */
export interface CallTimes {
  startedAt: number
  endedAt: number
}

/** Chain clocks run in whole seconds and apart from ours. */
const EARLIEST_MS = -5_000
/** An offer may be settled after its answer; what comes later belongs to another call. */
const LATEST_MS = 15 * 60_000

/** A thief who copies an authorisation from a block comes through the relay after that block. */
export function isOfCall(blockTime: number, { startedAt, endedAt }: CallTimes): boolean {
  return blockTime >= startedAt + EARLIEST_MS && blockTime <= endedAt + LATEST_MS
}
