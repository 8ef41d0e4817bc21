import * as v from 'valibot'
import { parseChallenges } from '../probe/mpp.ts'
import { MOST_HEADER, parseBase64Json, toBase64Url } from '../relay/base64-json.ts'
import { toCanonicalJson } from '../wire/canonical-json.ts'

/** MPP over MCP: members of `_meta` for terms, incoming credentials and receipts. */
export const MPP_REQUIRED_META = 'org.paymentauth/payment-required'
export const MPP_CREDENTIAL_META = 'org.paymentauth/credential'
export const MPP_RECEIPT_META = 'org.paymentauth/receipt'

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

/** The `Payment` challenges of a 402 as MPP's MCP binding has them; null where there are none. */
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

/** Signed data is unchanged; its request is canonical JSON (RFC 8785). Null for anything else. */
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
