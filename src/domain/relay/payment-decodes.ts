import * as v from 'valibot'
import { parseBase64Json } from './base64-json.ts'
import { paymentsIn, type RawHeaders } from './relayed-headers.ts'

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
