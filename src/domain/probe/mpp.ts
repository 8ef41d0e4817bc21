import * as v from 'valibot'
import { toPayout } from '../listing/networks.ts'
import { parseBase64Json } from '../relay/base64-json.ts'
import { TEMPO_CHAIN_ID, toUsd } from '../settlement/usd-assets.ts'
import { MAX_TERMS, type PaymentTerm, type ProbeAnswer, type ReadTerms } from './finding.ts'

/** What an unpaid call is answered with. */
export const RIGHT_MPP =
  'Answer an unpaid call with 402 and WWW-Authenticate: Payment with id, realm, method, intent and request, the last one base64url of JSON with amount, currency and recipient.'

const MAX_REQUEST_LENGTH = 32 * 1024
const MAX_HEADER_LENGTH = 64 * 1024

const text = v.pipe(v.string(), v.minLength(1), v.maxLength(2000))
const ChallengeSchema = v.object({
  id: text,
  realm: text,
  method: v.pipe(v.string(), v.regex(/^[a-z0-9_-]{1,40}$/i)),
  intent: v.pipe(v.string(), v.regex(/^[a-z0-9_-]{1,40}$/i)),
  request: v.union([v.string(), v.looseObject({})]),
})
const RequestSchema = v.object({
  amount: v.optional(v.nullable(v.pipe(v.string(), v.regex(/^\d{1,40}$/)))),
  currency: v.optional(v.string()),
  recipient: v.optional(v.string()),
  methodDetails: v.optional(v.object({ chainId: v.optional(v.pipe(v.number(), v.integer())) })),
})

/** The challenges of scheme `Payment` in an answer's `WWW-Authenticate` lines. */
export function readMppTerms(answer: ProbeAnswer): ReadTerms {
  const lines = answer.headers.get('www-authenticate') ?? []
  const challenges = lines.flatMap((line) => parseChallenges(line.slice(0, MAX_HEADER_LENGTH)))
  const payments = challenges.filter(({ scheme }) => scheme === 'payment')
  const missing = (what: string) =>
    ({ found: false, isTried: payments.length > 0, what, change: RIGHT_MPP }) as const
  if (payments.length === 0)
    return missing('the 402 has no WWW-Authenticate challenge of scheme Payment')
  const terms = payments
    .slice(0, MAX_TERMS)
    .map(({ parameters }) => toMppTerm(Object.fromEntries(parameters)))
    .filter((term) => term !== null)
  if (terms.length === 0)
    return missing(
      'no Payment challenge in WWW-Authenticate has id, realm, method, intent and a readable request',
    )
  return { found: true, version: 'mpp', terms, isCut: payments.length > MAX_TERMS }
}

/** The terms of a challenge; null where it cannot be parsed. Over MCP its request is plain JSON. */
export function toMppTerm(challenged: Readonly<Record<string, unknown>>): PaymentTerm | null {
  const challenge = v.safeParse(ChallengeSchema, challenged)
  if (!challenge.success) return null
  const { method, intent, request } = challenge.output
  const stated =
    typeof request === 'string' ? parseBase64Json(request, MAX_REQUEST_LENGTH) : request
  const terms = v.safeParse(RequestSchema, stated)
  if (!terms.success) return null
  const { amount, currency = '', recipient = '', methodDetails } = terms.output
  const chain = methodDetails?.chainId ?? (method === 'tempo' ? TEMPO_CHAIN_ID : undefined)
  const network = chain === undefined || chain < 1 ? null : `eip155:${chain}`
  const isPrice = intent === 'charge' && typeof amount === 'string'
  return {
    rail: 'mpp',
    scheme: `${method}/${intent}`,
    network,
    usd: isPrice ? toUsd(network, currency, amount) : null,
    payout: toPayout(network, recipient),
  }
}

const SCHEME = /[\s,]*([!#$%&'*+.^_`|~0-9a-z-]+)(?=[\s,]|$)/iy
const PARAMETER = /[\s,]*([!#$%&'*+.^_`|~0-9a-z-]+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|([^\s,"]+))/iy

/** RFC 9110 §11.6.1: commas separate challenges and parameters alike. Names become lower case. */
export function parseChallenges(line: string) {
  const challenges: { scheme: string; parameters: Map<string, string> }[] = []
  let at = 0
  while (at < line.length) {
    PARAMETER.lastIndex = at
    const parameter = PARAMETER.exec(line)
    if (parameter !== null) {
      const [, name = '', quoted, plain = ''] = parameter
      const value = quoted === undefined ? plain : quoted.replace(/\\(.)/g, '$1')
      challenges.at(-1)?.parameters.set(name.toLowerCase(), value)
      at = PARAMETER.lastIndex
      continue
    }
    SCHEME.lastIndex = at
    const scheme = SCHEME.exec(line)
    if (scheme === null) return challenges
    challenges.push({ scheme: (scheme[1] ?? '').toLowerCase(), parameters: new Map() })
    at = SCHEME.lastIndex
  }
  return challenges
}
