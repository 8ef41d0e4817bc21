import * as v from 'valibot'
import { parseBase64Json } from '../relay/base64-json.ts'
import { type RawHeaders, valuesOf } from '../relay/relayed-headers.ts'
import { HashSchema } from './schemes/evm-log.ts'

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
