import type { Operation } from '../../listing/operation.ts'
import type { SignIn } from '../../listing/sign-in.ts'
import type { Skill, Tool } from '../../listing/tools-and-skills.ts'
import type { Accept } from '../../trust/seen-answer.ts'
import type {
  DeliveryVerdict,
  HttpMethod,
  PROBE_OUTCOMES,
  PROBE_PROTOCOLS,
  Rail,
} from '../../wire/vocabulary.ts'
import { toInertLine } from './inert-text.ts'
import {
  FAILURES,
  headerOf,
  type ProbeAnswer,
  type ProbeFailure,
  type ProbeReply,
  retryAfterOf,
} from './probe-answer.ts'

export type ProbeProtocol = (typeof PROBE_PROTOCOLS)[number]
export type ProbeOutcome = (typeof PROBE_OUTCOMES)[number]

export interface PaymentTerm {
  rail: Rail
  /** CAIP-2, or null for a chain or means this directory has no id for. */
  network: string | null
  /** x402 scheme or MPP method and intent, as sent. */
  scheme: string
  /** The price of one call in USD; null where asset or scheme don't tell. */
  usd: number | null
  /** CAIP-10, or null. */
  payout: string | null
  /** Everything a payer signs, where an offer of x402 says all of it. */
  accept?: Accept
}

/** What an answer revealed about the service itself. */
export interface Sight {
  from: 'x402' | 'mpp' | 'http' | 'mcp' | 'agent_card'
  tools?: Tool[]
  skills?: Skill[]
  server?: { name: string; version: string; protocol: string; url?: string; binding?: string }
  terms?: PaymentTerm[]
  /** The probed operation, with its input and output where the answer described them. */
  operation?: { method: HttpMethod; url: string } & Pick<Operation, 'params' | 'body' | 'response'>
  /** Something was longer than we keep. */
  truncated?: true
}

export interface OtherAnswer {
  operation: { method: HttpMethod; url: string }
  finding: Finding
}

export interface Finding {
  protocol: ProbeProtocol
  outcome: ProbeOutcome
  status?: number
  /** Of the first answer. */
  ms?: number
  /** Of the protocol, as negotiated or declared. */
  version?: string
  /** One printable line of at most 200 characters. */
  saw: string
  sight?: Sight
  /** The listing's other probed operations, in that order. They never change the outcome. */
  others?: OtherAnswer[]
  /** Where to get a token, from the seller's own metadata. */
  signIn?: SignIn
  /** How long the seller asked to be left alone, in seconds. */
  retryAfterS?: number
  failure?: ProbeFailure
  /** By the operation's declared answer; only the verdict is kept. */
  judged?: { verdict: DeliveryVerdict; reason: string }
}

export const MAX_SAW_LENGTH = 200

/** A finding whose foreign words are inert. @param answer the answer it is based on */
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
 * @param now milliseconds since the epoch, for a `Retry-After` that is a date
 * @returns null where the protocol's own rule decides
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

/** An unexpected answer; one that stopped halfway is not an answer at all. */
export function toWrong(protocol: ProbeProtocol, answer: ProbeAnswer, saw: string): Finding {
  const isHalf = answer.cut === 'time' || answer.cut === 'broken'
  const half = `status ${answer.status}, then the answer stopped half-way`
  const [outcome, words] = isHalf ? (['dead', half] as const) : (['wrong_protocol', saw] as const)
  return toFinding({ protocol, outcome, saw: words }, answer)
}
