import * as v from 'valibot'
import type { SignIn } from '../listing/invoke.ts'
import type { Operation, Skill, Tool } from '../listing/listing-facts.ts'
import { toPayout } from '../listing/networks.ts'
import type { Accept } from '../trust/evidence.ts'
import { TEMPO_CHAIN_ID, toUsd } from '../trust/usd-assets.ts'
import { parseBase64Json, parseJson } from '../wire/json.ts'
import type {
  DeliveryVerdict,
  HttpMethod,
  PROBE_OUTCOMES,
  PROBE_PROTOCOLS,
  Rail,
} from '../wire/vocabulary.ts'

export type ProbeProtocol = (typeof PROBE_PROTOCOLS)[number]
export type ProbeOutcome = (typeof PROBE_OUTCOMES)[number]

export interface PaymentTerm {
  rail: Rail
  /** CAIP-2; null for a chain or payment method that has no id in this directory. */
  network: string | null
  /** x402 scheme or MPP method and intent, as sent. */
  scheme: string
  /** The price of one call in USD; null if the asset or the scheme does not reveal it. */
  usd: number | null
  /** CAIP-10, or null. */
  payout: string | null
  /** Everything that a payer signs, if an x402 offer states all of it. */
  accept?: Accept
}

/** How many offers are read from one 402; further offers are cut, and the finding is marked as cut. */
export const MAX_TERMS = 50

/** The terms that one rail's rules find in a 402. */
export type ReadTerms =
  | { found: true; version: string; terms: PaymentTerm[]; isCut: boolean; faults?: Fault[] }
  | ({ found: false; isTried: boolean } & Fault)

/** Something that a seller could fix, and how. */
export interface Fault {
  what: string
  change: string
}

/** What an answer revealed about the service itself. */
export interface Sight {
  from: 'x402' | 'mpp' | 'http' | 'mcp' | 'agent_card'
  tools?: Tool[]
  skills?: Skill[]
  server?: { name: string; version: string; protocol: string; url?: string; binding?: string }
  terms?: PaymentTerm[]
  /** The probed operation, with its input and output if the answer described them. */
  operation?: { method: HttpMethod; url: string } & Pick<Operation, 'params' | 'body' | 'response'>
  /** Set if something was longer than we keep. */
  truncated?: true
  /** Why the list of tools is incomplete. */
  cut?: string
}

export interface OtherAnswer {
  operation: { method: HttpMethod; url: string }
  finding: Finding
}

export interface Finding {
  protocol: ProbeProtocol
  outcome: ProbeOutcome
  status?: number
  /** Time to the first answer. */
  ms?: number
  /** The protocol's version, as negotiated or declared. */
  version?: string
  /** One printable line of at most 200 characters. */
  saw: string
  sight?: Sight
  /** The listing's other probed operations, in the order of the plan. They never change the outcome. */
  others?: OtherAnswer[]
  /** Where to get a token, from the seller's own metadata. */
  signIn?: SignIn
  /** How long the seller wants to be left alone, in seconds. */
  retryAfterS?: number
  failure?: ProbeFailure
  /** Whether the answer is what the operation declares; only the verdict is kept. */
  judged?: { verdict: DeliveryVerdict; reason: string }
  /** For the linter: the faults of this very answer, instead of a general sentence about the protocol. */
  faults?: Fault[]
  /** Set if the answer shows that the seller meant to speak this protocol, however badly. */
  isMeant?: true
}

const MAX_SAW_LENGTH = 200

/** @example '2 offers: $0.01 on eip155:8453, exact on tron:0x2b6653dc' */
export function toOfferWords(terms: readonly PaymentTerm[]): string {
  const offers = terms.map(({ scheme, network, usd }) => {
    return `${usd === null ? scheme : `$${usd}`} on ${network ?? 'another network'}`
  })
  return `${terms.length} offer${terms.length === 1 ? '' : 's'}: ${offers.join(', ')}`
}

/** A finding in which foreign words are made inert. @param answer the answer on which the finding is based */
export function toFinding(finding: Finding, answer?: Pick<ProbeAnswer, 'status' | 'ms'>): Finding {
  const mark = answer && { status: answer.status, ms: Math.round(answer.ms) }
  return { ...finding, ...mark, saw: toInertLine(finding.saw, MAX_SAW_LENGTH) }
}

export function toFailureFinding(
  protocol: ProbeProtocol,
  { failure, detail, ms }: Extract<ProbeReply, { answered: false }>,
): Finding {
  const { outcome, saw: means } = FAILURES[failure]
  const saw = detail === '' ? means : `${means} (${detail})`
  return toFinding({ protocol, outcome, ms: Math.round(ms), saw, failure })
}

/**
 * @param now milliseconds since the epoch, to parse a `Retry-After` that is a date
 * @returns null if the status leaves the decision to the protocol's own rules
 */
export function judgeStatus(
  protocol: ProbeProtocol,
  answer: ProbeAnswer,
  now: number,
): Finding | null {
  const { status } = answer
  const seen = (outcome: ProbeOutcome, words = '') => {
    const saw = words === '' ? `status ${status}` : `status ${status}, ${words}`
    return toFinding({ protocol, outcome, saw }, answer)
  }
  const wait = retryAfterOf(answer, now)
  if (status === 429 || (status === 503 && wait !== null)) {
    const words = wait === null ? '' : `retry after ${wait} s`
    return { ...seen('unknown', words), ...(wait !== null && { retryAfterS: wait }) }
  }
  if (status === 401 || status === 403) return seen('gated')
  if (status >= 300 && status <= 399)
    return seen('wrong_protocol', `a redirect to ${headerOf(answer, 'location') ?? 'nowhere'}`)
  if (status === 404 || status === 410 || status >= 500) return seen('dead')
  return null
}

/**
 * An unexpected answer; not for an answer that was cut off.
 * @param change what to fix, if the answer shows that the protocol was meant
 */
export function toWrong(
  protocol: ProbeProtocol,
  answer: ProbeAnswer,
  saw: string,
  change?: string,
  what = saw,
): Finding {
  if (answer.cut === 'time' || answer.cut === 'broken') {
    const half = `status ${answer.status}, then the answer broke off`
    return toFinding({ protocol, outcome: 'dead', saw: half }, answer)
  }
  const meant = change !== undefined && {
    isMeant: true as const,
    faults: [{ what: toInertLine(what, MAX_SAW_LENGTH), change }],
  }
  return toFinding({ protocol, outcome: 'wrong_protocol', saw, ...meant }, answer)
}

/** The answer to one request of a probe, cut to its limits. */
export interface ProbeAnswer {
  status: number
  /** Lower-case names; repeated lines stay repeated. */
  headers: ReadonlyMap<string, readonly string[]>
  /** Decoded as UTF-8; only the beginning if `cut` is set. */
  body: string
  /** `size`: over our limit. `time`: the rest did not come in time. `broken`: the connection was lost. */
  cut: 'size' | 'time' | 'broken' | null
  /** From the first byte sent to the answer's head, including the connection. */
  ms: number
}

/** What to conclude if no answer came. Our own faults are never held against a seller. */
const FAILURES = {
  refused: { outcome: 'dead', saw: 'the connection was refused' },
  reset: { outcome: 'dead', saw: 'the connection was reset' },
  timeout: { outcome: 'dead', saw: 'no answer in time' },
  tls: { outcome: 'dead', saw: 'TLS failed' },
  no_such_host: { outcome: 'dead', saw: 'the host name does not exist' },
  dns: { outcome: 'unknown', saw: 'the name servers gave no answer' },
  address_refused: { outcome: 'unprobeable', saw: 'the host is not a public address' },
  own_network: { outcome: 'unknown', saw: 'our own network failed' },
  own_bound: { outcome: 'unknown', saw: 'no answer before our own run had to end' },
  not_http: { outcome: 'wrong_protocol', saw: 'the answer is not HTTP/1.1' },
} as const
export type ProbeFailure = keyof typeof FAILURES

export type ProbeReply =
  | { answered: true; answer: ProbeAnswer }
  | { answered: false; failure: ProbeFailure; detail: string; ms: number }

export function headerOf(answer: ProbeAnswer, name: string): string | undefined {
  return answer.headers.get(name)?.[0]
}

/** The media type without its parameters, in lower case; '' if none was sent. */
export function mediaTypeOf(answer: ProbeAnswer): string {
  const [type = ''] = (headerOf(answer, 'content-type') ?? '').split(';')
  return type.trim().toLowerCase()
}

/** @example toHeadText(answer) → 'status 404, text/html' */
export function toHeadText(answer: ProbeAnswer): string {
  return `status ${answer.status}, ${mediaTypeOf(answer) || 'no content type'}`
}

/** The body as JSON; undefined if it is not JSON or was cut. */
export function jsonOf(answer: ProbeAnswer): unknown {
  return answer.cut === null ? parseJson(answer.body) : undefined
}

/** Longest wait that a seller may ask for: a day, after which a probe is due anyway. */
const MAX_RETRY_AFTER_S = 86_400

function retryAfterOf(answer: ProbeAnswer, now: number): number | null {
  const seconds = parseRetryAfter(headerOf(answer, 'retry-after'), now)
  return seconds === null ? null : Math.min(MAX_RETRY_AFTER_S, seconds)
}

/**
 * The wait that a `Retry-After` asks for, in seconds (RFC 9110); null if it asks for none.
 * @param now milliseconds since the epoch
 * @example parseRetryAfter('Thu, 01 Jan 1970 00:01:00 GMT', 0) → 60
 */
export function parseRetryAfter(header: string | null | undefined, now: number): number | null {
  const text = header?.trim() ?? ''
  const seconds = /^\d{1,9}$/.test(text) ? Number(text) : (Date.parse(text) - now) / 1000
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : null
}

const ELLIPSIS = '…'

/** Control, format and direction characters, private use, and separators other than a space. */
const NOT_PRINTABLE = /[\p{Cc}\p{Cf}\p{Co}\p{Zl}\p{Zp}\p{Default_Ignorable_Code_Point}]+/gu

/**
 * One printable line: nothing in it moves a cursor, reverses text or is invisible. Its words stay,
 * even if they are orders to agents: pages and kits show it as text.
 * @param maxLength in UTF-16 units, including the ellipsis
 * @example toInertLine('a\u202eb\n\tc', 80) → 'a b c'
 */
export function toInertLine(text: string, maxLength: number): string {
  // Only the part that may be kept is read: a hostile text can be as long as its answer.
  const start = text.slice(0, maxLength * 4)
  const line = start.toWellFormed().replace(NOT_PRINTABLE, ' ').replace(/\s+/g, ' ').trim()
  if (line.length <= maxLength && start.length === text.length) return line
  if (line.length < maxLength) return `${line}${ELLIPSIS}`
  return `${line.slice(0, maxLength - ELLIPSIS.length).replace(/[\ud800-\udbff]$/, '')}${ELLIPSIS}`
}

/** Together with its method, such a path makes a name of at most 100 characters, the limit in rows of changes. */
const MAX_PATH_LENGTH = 90

/** @example { method: 'GET', url: 'https://x.example/users/{id}' } → 'GET /users/{id}' */
export function toOperationName({ method, url }: { method: string; url: string }): string {
  const path = url.replace(/^[a-z]+:\/\/[^/?#]*/i, '')
  return `${method} ${toInertLine(path === '' ? '/' : path, MAX_PATH_LENGTH)}`
}

/** How long we keep probes, and the payouts, operations and changes that they saw. */
export const KEEP_MS = 90 * 86_400_000

/** How a seller should answer an unpaid call. */
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

/** The challenges with scheme `Payment` in an answer's `WWW-Authenticate` lines. */
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

/** A challenge's terms; null if it cannot be parsed. Over MCP the challenge's request is plain JSON. */
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

/** RFC 9110 §11.6.1: commas separate both challenges and parameters. Names become lower case. */
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
