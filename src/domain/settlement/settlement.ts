import * as v from 'valibot'
import { parseBase64Json } from '../relay/base64-json.ts'
import { type RawHeaders, valuesOf } from '../relay/relayed-headers.ts'
import { HashSchema } from './schemes/evm-log.ts'
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

/** Longest header that is decoded; a settlement is a few hundred bytes. */
const MAX_HEADER_LENGTH = 64 * 1024

/** 0x and 64 hex digits in lower case, or a signature of Solana. */
const transaction = v.union([
  HashSchema,
  v.pipe(v.string(), v.regex(/^[1-9A-HJ-NP-Za-km-z]{64,90}$/)),
])
/** Of x402, and of MPP. */
const NamedSchema = v.union([
  v.pipe(
    v.object({ success: v.literal(true), transaction }),
    v.transform((settled) => settled.transaction),
  ),
  v.pipe(
    v.object({ status: v.literal('success'), reference: transaction }),
    v.transform((receipt) => receipt.reference),
  ),
])

/**
 * The transaction that a seller's answer names as its payment, in x402 or MPP. It is only the
 * seller's claim: it tells the meter where to look.
 *
 * @returns null where the answer names none: no payment, a voucher, a card
 */
export function readSettledTransaction(response: RawHeaders): string | null {
  for (const name of ['payment-response', 'x-payment-response', 'payment-receipt']) {
    const [value] = valuesOf(response, name)
    if (value === undefined) continue
    const read = v.safeParse(NamedSchema, parseBase64Json(value, MAX_HEADER_LENGTH))
    if (read.success) return read.output
  }
  return null
}
