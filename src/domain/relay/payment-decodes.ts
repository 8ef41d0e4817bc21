import * as v from 'valibot'
import { HashSchema } from '../settlement/schemes/evm-log.ts'
import { parseBase64Json } from './base64-json.ts'
import { paymentsIn, type RawHeaders, valuesOf } from './relayed-headers.ts'

const word = v.pipe(v.string(), v.minLength(1))
const terms = { scheme: word, network: word }

/** The required members of each protocol's payments, whatever scheme, method or network. */
const PaymentSchema = v.union([
  v.object({ x402Version: v.literal(1), ...terms, payload: v.looseObject({}) }),
  v.object({
    x402Version: v.literal(2),
    accepted: v.object({ ...terms, amount: word, payTo: word }),
    payload: v.looseObject({}),
  }),
  // MPP: the challenge as it was posed, and what answers it.
  v.object({
    challenge: v.object({ id: word, method: word, intent: word, request: word }),
    payload: v.looseObject({}),
  }),
])

/** Anything that parses as a payment of x402 or MPP; its validity is for the seller to judge. */
export function decodePayments(raw: RawHeaders): object[] {
  return paymentsIn(raw)
    .map((payment) => parseBase64Json(payment))
    .filter((payment) => v.is(PaymentSchema, payment))
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
