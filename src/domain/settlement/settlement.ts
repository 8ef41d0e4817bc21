import type { CountedScheme } from './schemes/schemes.ts'

/** One payment that the meter found on a chain: a payer's money received by a payout. */
export interface Settlement {
  network: string
  transaction: string
  /** Index of the transfer's log (EVM); 0 where a chain has none. */
  log: number
  /** Which listing was called, where a relayed call named it and the payee is that listing's; else ''. */
  listing_id: string
  payer: string
  payee: string
  /** US dollars. */
  usd: number
  /** Smallest units of the token, decimal text: equal amounts compare exactly. */
  amount: string
  /** Time of the block, milliseconds since the epoch. */
  at: number
  /** Height of the block; null where it was not recorded. */
  block: number | null
  /** How it was paid; null where it was not recorded. */
  scheme: CountedScheme | null
  /** Which authorisation its payer signed (EIP-3009), as `authorizationMarkOf` writes it. */
  authorization?: string | null
}

/** Any transfer of an allow-listed token between known wallets; only for wash rules. */
export interface Transfer {
  network: string
  transaction: string
  log: number
  from: string
  to: string
  amount: string
  at: number
  block: number | null
  /** Whether `from` is a contract: exchanges and pools pass on others' money. Null: not checked. */
  from_contract: boolean | null
}
