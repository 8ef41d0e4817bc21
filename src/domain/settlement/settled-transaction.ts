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
const SettledSchema = v.object({ success: v.literal(true), transaction })
const ReceiptSchema = v.object({ status: v.literal('success'), reference: transaction })

/**
 * The transaction that a seller's answer names as its payment, in x402 or MPP. It is only the
 * seller's claim: it tells the meter where to look.
 *
 * @returns null where the answer names none: no payment, a voucher, a card
 */
export function readSettledTransaction(response: RawHeaders): string | null {
  for (const name of ['payment-response', 'x-payment-response', 'payment-receipt']) {
    const said = parseBase64Json(valuesOf(response, name)[0], MAX_HEADER_LENGTH)
    if (v.is(SettledSchema, said)) return v.parse(SettledSchema, said).transaction
    if (v.is(ReceiptSchema, said)) return v.parse(ReceiptSchema, said).reference
  }
  return null
}
