import * as v from 'valibot'
import { parseChallenges } from '../probe/finding.ts'
import {
  MOST_HEADER,
  parseBase64Json,
  parseJson,
  toBase64,
  toBase64Url,
  toCanonicalJson,
} from '../wire/json.ts'

/** x402 over MCP (transports-v2/mcp): members of `_meta` for payments and receipts. */
export const PAYMENT_META = 'x402/payment'

/** How many bytes of an unpacked 402 are read for a caller: no terms are longer. */
export const MAX_TERMS_BYTES = 256 * 1024

const PaymentSchema = v.looseObject({ x402Version: v.picklist([1, 2]) })
const RequiredSchema = v.looseObject({
  x402Version: v.number(),
  accepts: v.array(v.looseObject({})),
})

/** Keeps every member as the client signed it. @returns null if `payment` is not a payment payload */
export function toPaymentHeader(payment: unknown): { name: string; value: string } | null {
  if (!v.is(PaymentSchema, payment)) return null
  const name = payment.x402Version === 1 ? 'X-PAYMENT' : 'PAYMENT-SIGNATURE'
  return { name, value: toBase64(JSON.stringify(payment)) }
}

/** A 402's terms: in its header since version 2, in its body before. Null if it has none. */
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
export const MPP_CREDENTIAL_META = 'org.paymentauth/credential'

const MOST_CHALLENGES = 20

const ChallengeSchema = v.looseObject({
  id: v.pipe(v.string(), v.minLength(1)),
  realm: v.string(),
  method: v.string(),
  intent: v.string(),
  request: v.record(v.string(), v.unknown()),
})
const CredentialSchema = v.looseObject({
  challenge: v.looseObject({
    ...ChallengeSchema.entries,
    header: v.optional(v.picklist(['Authorization', 'Payment-Authorization'])),
    meta: v.optional(v.record(v.string(), v.string())),
    opaque: v.optional(v.string()),
  }),
  payload: v.looseObject({}),
})

/** The `Payment` challenges in a 402 in the form of MPP's MCP binding; null if there are none. */
export function readMppRequired(
  headers: Record<string, unknown>,
): { httpStatus: 402; challenges: object[] } | null {
  const line = headers['www-authenticate']
  if (typeof line !== 'string') return null
  const challenges = parseChallenges(line.slice(0, MOST_HEADER))
    .filter(({ scheme }) => scheme === 'payment')
    .slice(0, MOST_CHALLENGES)
    .flatMap(({ parameters }) => {
      const fields = Object.fromEntries(parameters)
      const request = parseBase64Json(fields.request)
      const challenge = { ...fields, request }
      return v.is(ChallengeSchema, challenge) ? [challenge] : []
    })
  return challenges.length === 0 ? null : { httpStatus: 402, challenges }
}

/** The header for an MPP credential, unchanged except that its request is canonical JSON (RFC 8785); else null. */
export function toMppHeader(credential: unknown): { name: string; value: string } | null {
  if (!v.is(CredentialSchema, credential)) return null
  const { challenge, ...signed } = credential
  const { request, meta, opaque = meta && toBase64Url(toCanonicalJson(meta)), ...rest } = challenge
  const wire = {
    challenge: {
      ...rest,
      ...(opaque !== undefined && { opaque }),
      request: toBase64Url(toCanonicalJson(request)),
    },
    ...signed,
  }
  return {
    name: challenge.header ?? 'Authorization',
    value: `Payment ${toBase64Url(JSON.stringify(wire))}`,
  }
}

/** The seller's report on the settlement, unchanged. */
export function readMppReceipt(headers: Record<string, unknown>): unknown {
  const header = headers['payment-receipt']
  return typeof header === 'string' ? parseBase64Json(header) : undefined
}
