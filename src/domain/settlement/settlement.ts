import type { CountedScheme } from './schemes/schemes.ts'

/** One payment that the meter found on a chain: money of a payer's that a payout got. */
export interface Settlement {
  network: string
  transaction: string
  /** Index of the transfer's log (EVM); 0 where a chain has none. */
  log: number
  /** Which listing was called, where a relayed call said so and the payee is that listing's; else ''. */
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
  /** Which authorisation its payer signed (EIP-3009), as `authorizationMarkOf` writes it. */
  authorization?: string | null
}

/** Any transfer of an allow-listed token between wallets we know of; for wash rules alone. */
export interface Transfer {
  network: string
  transaction: string
  log: number
  from: string
  to: string
  amount: string
  at: number
  block: number | null
  /** Whether code stands at `from`: exchanges and pools pass on everybody's money. Null: not asked. */
  from_contract: boolean | null
}
