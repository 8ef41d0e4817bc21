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
}

/** What looking at a transaction came to. `wait` is asked again later; `refused` never. */
export type SettlementVerdict =
  | { outcome: 'counted'; settlement: Omit<Settlement, 'listing_id'> }
  | { outcome: 'refused'; reason: RefusalReason }
  | { outcome: 'wait'; reason: WaitReason }

export type RefusalReason =
  | 'transaction_failed'
  | 'asset_not_allowed'
  | 'no_matching_transfer'
  | 'authorization_not_used'
  | 'message_differs'

export type WaitReason = 'not_mined' | 'too_few_confirmations' | 'reorganised' | 'rpc_unavailable'
