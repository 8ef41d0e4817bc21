import * as v from 'valibot'
import { parseBase64Json, toBase64 } from '../relay/base64-json.ts'
import { parseJson } from '../wire/parse-json.ts'

/** x402 over MCP (transports-v2/mcp): members of `_meta` for payments and receipts. */
export const PAYMENT_META = 'x402/payment'
export const RECEIPT_META = 'x402/payment-response'

/** Of a 402, unpacked: no terms are longer, and whoever reads them for a caller reads no more. */
export const MAX_TERMS_BYTES = 256 * 1024

const PaymentSchema = v.looseObject({ x402Version: v.picklist([1, 2]) })
const RequiredSchema = v.looseObject({
  x402Version: v.number(),
  accepts: v.array(v.looseObject({})),
})

/** Every member stays as the client signed it. @returns null when it is not a payment payload */
export function toPaymentHeader(payment: unknown): { name: string; value: string } | null {
  if (!v.is(PaymentSchema, payment)) return null
  const name = payment.x402Version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE'
  return { name, value: toBase64(JSON.stringify(payment)) }
}

/** The terms of a 402: in its header since version 2, in its body before. Null when it has none. */
export function readPaymentRequired(
  headers: Record<string, unknown>,
  body: string,
): Record<string, unknown> | null {
  const header = headers['payment-required']
  const terms = typeof header === 'string' ? parseBase64Json(header) : parseJson(body)
  return v.is(RequiredSchema, terms) ? terms : null
}

/** The seller's report on the settlement, unchanged. */
export function readReceipt(headers: Record<string, unknown>): unknown {
  const header = headers['payment-response'] ?? headers['x-payment-response']
  return typeof header === 'string' ? parseBase64Json(header) : undefined
}
