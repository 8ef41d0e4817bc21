import { type DeclaredOperation, judgeDeclared } from '../../src/domain/lint/judge-declared.ts'
import {
  type AskedStep,
  chooseFinding,
  type LintProblem,
  type LintReport,
  toLintReport,
} from '../../src/domain/lint/lint-report.ts'
import { toDriftSentence } from '../../src/domain/probe/keep/drift.ts'
import { mergeFinding } from '../../src/domain/probe/keep/merge-finding.ts'
import type { Handshake, ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import type { Finding, ProbeProtocol } from '../../src/domain/probe/read/finding.ts'
import { toInertLine } from '../../src/domain/probe/read/inert-text.ts'
import { CARD_PATHS } from '../../src/domain/probe/read/judge-a2a.ts'
import { type ProbeReply, toHeadText } from '../../src/domain/probe/read/probe-answer.ts'
import type { Fetcher } from '../net/http-client.ts'
import { toInstant } from '../probe/probe-content.ts'
import { probeHandshake } from '../probe/probe-handshake.ts'

export const MAX_SHOWN_URL = 300
const MAX_SENTENCE = 300

/**
 * Says what an address is and what to change: MCP, x402 (GET, then POST), an A2A card and plain
 * HTTP are tried in turn until one speaks.
 *
 * @param as tries only this protocol
 * @param now milliseconds since the epoch
 */
export async function lintUrl(
  url: string,
  as: ProbeProtocol | undefined,
  client: Fetcher,
  now: () => number,
): Promise<LintReport> {
  const { chosen, asked } = await examineUrl(url, as, client, now)
  return toLintReport(toInertLine(url, MAX_SHOWN_URL), chosen, asked)
}

/** The handshakes behind it: the finding that says what the address is, and every request. */
export async function examineUrl(
  url: string,
  as: ProbeProtocol | undefined,
  client: Fetcher,
  now: () => number,
): Promise<{ chosen: Finding; asked: AskedStep[] }> {
  const asked: AskedStep[] = []
  const findings: Finding[] = []
  const watched = { fetch: watch(client, asked) }
  for (const handshake of toHandshakes(url, as)) {
    const finding = await probeHandshake(handshake, watched, now)
    findings.push(finding)
    // Stop once a protocol spoke, or once the host cannot be reached.
    if (finding.outcome === 'spoke' || finding.failure !== undefined) break
    if (finding.outcome === 'unknown') break
  }
  return { chosen: chooseFinding(findings) ?? NOTHING, asked }
}

const NOTHING: Finding = { protocol: 'http', outcome: 'unprobeable', saw: 'nothing was asked' }

function toHandshakes(url: string, as: ProbeProtocol | undefined): Handshake[] {
  const paid = (method: 'GET' | 'POST', rails: ('x402' | 'mpp')[]): Handshake => ({
    kind: 'payment',
    request: {
      method,
      url,
      headers: method === 'POST' ? { 'content-type': 'application/json' } : {},
      ...(method === 'POST' && { body: '{}' }),
    },
    operation: { method, url },
    rails,
    is_guess: false,
  })
  const card = /\.json$/.test(new URL(url).pathname)
    ? [url]
    : CARD_PATHS.map((path) => new URL(path, url).href)
  const request = { method: 'GET', url, headers: {} } as const
  const all: Record<ProbeProtocol, Handshake[]> = {
    mcp: [{ kind: 'mcp', url }],
    x402: [paid('GET', ['x402']), paid('POST', ['x402'])],
    mpp: [paid('GET', ['mpp']), paid('POST', ['mpp'])],
    a2a: [{ kind: 'a2a', urls: card }],
    http: [{ kind: 'http', request, expected: null }],
  }
  if (as !== undefined) return all[as]
  const either = [paid('GET', ['x402', 'mpp']), paid('POST', ['x402', 'mpp'])]
  return [...all.mcp, ...either, ...all.a2a, ...all.http]
}

function watch({ fetch }: Fetcher, asked: AskedStep[]): Fetcher['fetch'] {
  return async (request) => {
    const reply = await fetch(request)
    const url = toInertLine(request.url, MAX_SHOWN_URL)
    asked.push({ method: request.method, url, came_back: toWords(reply) })
    return reply
  }
}

function toWords(reply: ProbeReply): string {
  const ms = `${Math.round(reply.answered ? reply.answer.ms : reply.ms)} ms`
  if (!reply.answered) return toInertLine(`no answer: ${reply.failure} ${reply.detail}, ${ms}`, 200)
  const { answer } = reply
  const size = `${answer.cut === 'size' ? 'more than ' : ''}${answer.body.length} characters`
  return toInertLine(`${toHeadText(answer)}, ${size}, ${ms}`, 200)
}

/** A listing's own facts, apart from how it is probed. */
interface ListingWords {
  own?: readonly LintProblem[]
  declared?: readonly DeclaredOperation[]
}

/**
 * Probes a listing's service as the prober does, operation by operation, and reports where the
 * answers and the listing disagree.
 *
 * @param own errors of the listing itself, found before
 * @param declared its operations that declare a good answer
 * @param now milliseconds since the epoch
 */
export async function lintPlan(
  target: string,
  plan: ProbePlan,
  client: Fetcher,
  now: () => number,
  { own = [], declared = [] }: ListingWords = {},
): Promise<LintReport> {
  const asked: AskedStep[] = []
  const finding = await probeHandshake(plan.handshake, { fetch: watch(client, asked) }, now)
  const { drift = [] } = mergeFinding({}, finding, plan, toInstant(now()))
  const drifted = drift.map((row) => ({
    what: toInertLine(toDriftSentence(row), MAX_SENTENCE),
    change: 'Make the two agree.',
  }))
  return toLintReport(target, finding, asked, [
    ...own,
    ...drifted,
    ...judgeDeclared(declared, finding),
  ])
}

/** The listing with an operation at this address, or the only one at a bare origin. */
export function findPlanAt(plans: readonly ProbePlan[], url: string): ProbePlan | null {
  const wanted = new URL(url)
  wanted.hash = ''
  const exact = plans.find((plan) => addressesOf(plan).includes(wanted.href))
  if (exact !== undefined) return exact
  if (wanted.href !== `${wanted.origin}/`) return null
  const there = plans.filter((plan) =>
    addressesOf(plan).some((each) => URL.parse(each)?.origin === wanted.origin),
  )
  return there.length === 1 ? (there[0] ?? null) : null
}

/** Operations as declared and as probed; other listings have only one address. */
function addressesOf(plan: ProbePlan): string[] {
  return operationsOf(plan).flatMap(({ request, operation }) =>
    operation === undefined ? [request.url] : [request.url, operation.url],
  )
}

function operationsOf({ handshake }: ProbePlan) {
  if (handshake.kind !== 'payment' && handshake.kind !== 'http') return []
  return [handshake, ...(handshake.others ?? [])]
}
