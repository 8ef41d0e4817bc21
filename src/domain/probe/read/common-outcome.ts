import { type Finding, type ProbeOutcome, type ProbeProtocol, toFinding } from './finding.ts'
import {
  headerOf,
  markOf,
  type ProbeAnswer,
  type ProbeFailure,
  type ProbeReply,
  retryAfterOf,
} from './probe-answer.ts'

/** What no answer at all means. What is our fault never counts against a seller. */
const FAILURE_OUTCOMES: Record<ProbeFailure, { outcome: ProbeOutcome; saw: string }> = {
  refused: { outcome: 'dead', saw: 'the connection was refused' },
  reset: { outcome: 'dead', saw: 'the connection was reset' },
  timeout: { outcome: 'dead', saw: 'no answer in time' },
  tls: { outcome: 'dead', saw: 'TLS failed' },
  no_such_host: { outcome: 'dead', saw: 'the host name does not exist' },
  dns: { outcome: 'unknown', saw: 'the name servers gave no answer' },
  address_refused: { outcome: 'unprobeable', saw: 'the host is no public address' },
  own_network: { outcome: 'unknown', saw: 'our own network failed' },
  own_bound: { outcome: 'unknown', saw: 'we ask no longer than one run may' },
  not_http: { outcome: 'wrong_protocol', saw: 'the answer is no HTTP/1.1' },
}

export function toFailureFinding(
  protocol: ProbeProtocol,
  { failure, detail, ms }: Extract<ProbeReply, { answered: false }>,
): Finding {
  const { outcome, saw } = FAILURE_OUTCOMES[failure]
  return toFinding({
    protocol,
    outcome,
    ms: Math.round(ms),
    saw: detail === '' ? saw : `${saw} (${detail})`,
    failure,
  })
}

/**
 * Statuses that mean the same whatever was asked.
 *
 * @param now milliseconds since the epoch, for a `Retry-After` that is a date
 * @returns null where the protocol's own rule decides
 */
export function judgeStatus(
  protocol: ProbeProtocol,
  answer: ProbeAnswer,
  now: number,
): Finding | null {
  const { status } = answer
  const seen = (outcome: ProbeOutcome, words = '') =>
    toFinding({
      protocol,
      outcome,
      ...markOf(answer),
      saw: words === '' ? `status ${status}` : `status ${status}, ${words}`,
    })
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

/** An answer that is not what was asked for; one that stopped half-way is no answer at all. */
export function toWrong(protocol: ProbeProtocol, answer: ProbeAnswer, saw: string): Finding {
  const isHalf = answer.cut === 'time' || answer.cut === 'broken'
  return toFinding({
    protocol,
    outcome: isHalf ? 'dead' : 'wrong_protocol',
    ...markOf(answer),
    saw: isHalf ? `status ${answer.status}, then the answer stopped half-way` : saw,
  })
}
