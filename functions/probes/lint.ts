import type { IncomingMessage, ServerResponse } from 'node:http'
import type { H3Event } from 'h3'
import type { DeclaredRow } from '../../src/domain/derived/derived-listing.ts'
import {
  findHostForgery,
  findUrlFault,
  withAsciiHosts,
} from '../../src/domain/listing/target-url.ts'
import { CARD_PATHS } from '../../src/domain/probe/a2a.ts'
import {
  type Finding,
  type ProbeProtocol,
  type ProbeReply,
  toHeadText,
  toInertLine,
} from '../../src/domain/probe/finding.ts'
import { mergeFinding, toDriftSentence } from '../../src/domain/probe/merge.ts'
import type { Handshake, ProbePlan } from '../../src/domain/probe/plan.ts'
import {
  type CheckAnswer,
  type DeclaredOperation,
  judgeDeclared,
  type LintProblem,
  type LintReport,
  type RequestedStep,
  toLintReport,
} from '../../src/domain/sellers/lint.ts'
import type { NotListedReason } from '../../src/domain/sellers/not-listed.ts'
import type { Refused } from '../../src/domain/wire/problems.ts'
import { PROBE_PROTOCOLS } from '../../src/domain/wire/vocabulary.ts'
import type { Handler, Parts } from '../features/feature.ts'
import { countAgainst, orRefused } from '../features/routes.ts'
import {
  findNameErrors,
  publicJson,
  refuse,
  refuseParameters,
  toQueryError,
} from '../http/answers.ts'
import { ANONYMOUS_PROBES, createOwnAddress, isOwnHost, privateTargetsOf } from '../net/guard.ts'
import { createHttpClient, type Fetcher } from '../net/http-client.ts'
import type { Config } from '../ports/config.ts'
import { type Budget, createBudget, type Reached } from '../server/budget.ts'
import { type Caller, clientOf, nodeClientOf } from '../server/rate-limits.ts'
import { probeHandshake } from './handshake.ts'
import { toInstant } from './schedule.ts'

const NAMES = ['url', 'as']

interface CheckRequest {
  url: string
  as: ProbeProtocol | undefined
  caller: Caller
}

type Check = (request: CheckRequest) => Promise<Exclude<CheckAnswer, Refused>>

type CheckParts = Pick<Parts, 'config' | 'clock'> & {
  limits: Pick<Parts['limits'], 'take'>
  runs: AnonymousProbes
  plans: () => Promise<readonly ProbePlan[]>
  /** What listings declare as a good answer, used to judge paid calls. */
  declared: () => Promise<ReadonlyMap<string, DeclaredRow>>
  /** Why the address has no listing; null if it has one. */
  whyNotListed: (url: string) => NotListedReason | null
}

/** The linter's report on an address, for HTTP and for the page; a listing's address is probed as listed. */
export function createCheck(parts: CheckParts): Check {
  const { config, clock, runs, plans, declared, whyNotListed } = parts
  const ownUrl = new URL(config.BASE_URL)
  return async ({ url: written, as, caller }) => {
    const url = withAsciiHosts(written)
    if (url === '') return { kind: 'empty' }
    const fault = findUrlFault(url, { allowPrivate: privateTargetsOf('stranger', config) })
    if (fault !== null) refuseUrl(`${fault}.`)
    if (isOwnHost(new URL(url), ownUrl))
      refuseUrl('expected a service on another host: this host is ours.')
    return runs.run(url, caller, async (client) => {
      await countAgainst(parts, 'check', caller.client)
      const now = () => clock.now()
      const plan = as === undefined ? findPlanAt(await plans(), url) : null
      if (plan === null) {
        const report = await lintUrl(url, as, client, now)
        const not_listed = whyNotListed(url)
        return { kind: 'report', report: { ...report, ...(not_listed && { not_listed }) } }
      }
      const own = [...(await declared()).values()].filter((row) => row.listing_id === plan.id)
      const target = toInertLine(url, MAX_SHOWN_URL)
      const report = await lintPlan(target, plan, client, now, { declared: own })
      const taken = `It is listed as ${plan.id}, and was probed as listed.`
      return { kind: 'report', report: { ...report, right: [taken, ...report.right] } }
    })
  }
}

function refuseUrl(detail: string): never {
  return refuse('invalid-parameter', {
    detail: `url: ${detail}`,
    errors: [toQueryError('url', detail)],
  })
}

export function createCheckPage(
  parts: Pick<Parts, 'config' | 'log'>,
  check: Check,
): (req: IncomingMessage, res: ServerResponse) => Promise<CheckAnswer> {
  return async (req, res) => {
    const query = new URL(req.url ?? '', 'http://x').searchParams
    const wanted = {
      url: toAddress(query.get('url')?.trim() ?? ''),
      as: PROBE_PROTOCOLS.find((protocol) => protocol === query.get('as')),
      caller: toPageCaller(req, res, parts.config),
    }
    return orRefused(parts, () => check(wanted), { url: 'Address' })
  }
}

/** Adds the scheme, which people often leave out. */
function toAddress(text: string): string {
  return text === '' || text.includes('://') ? text : `https://${text}`
}

/** `GET /api/v1/lint?url=&as=`: the report of `/sellers/check` for programs. */
export function createLint({ config, problem }: Pick<Parts, 'config' | 'problem'>, check: Check) {
  const lint: Handler = async (event: H3Event) => {
    const requested = readRequested(event.url.searchParams)
    if ('errors' in requested) return refuseParameters(problem, requested.errors)
    const answer = await check({ ...requested, caller: toCaller(event, config) })
    if (answer.kind === 'report') return publicJson(answer.report)
    return refuseUrl('expected the address of a service.')
  }
  return lint
}

function readRequested(query: URLSearchParams) {
  const errors = findNameErrors(query, NAMES)
  const as = PROBE_PROTOCOLS.find((protocol) => protocol === query.get('as'))
  if (query.has('as') && as === undefined)
    errors.push(toQueryError('as', 'expected one of these.', PROBE_PROTOCOLS))
  return errors.length > 0 ? { errors } : { url: query.get('url')?.trim() ?? '', as }
}

const MAX_SHOWN_URL = 300
const MAX_SENTENCE = 300

/**
 * Says what an address is and what to change: tries MCP, x402 (GET, then POST), an A2A card and
 * plain HTTP in turn until one of them gets an answer in its protocol.
 * @param as the only protocol to try; undefined means all
 * @param now milliseconds since the epoch
 */
export async function lintUrl(
  url: string,
  as: ProbeProtocol | undefined,
  client: Fetcher,
  now: () => number,
): Promise<LintReport> {
  const { chosen, asked: requested } = await examineUrl(url, as, client, now)
  return toLintReport(
    toInertLine(url, MAX_SHOWN_URL),
    chosen,
    requested,
    judgeHost(new URL(url).host),
  )
}

/** Reports a host that looks like another one, because such hosts lead buyers astray. */
function judgeHost(host: string): LintProblem[] {
  const forgery = findHostForgery(host)
  if (forgery === null) return []
  const change = 'Use a host name in which each word is written in a single script.'
  return [{ what: `the host ${host} may be taken for another: ${forgery}`, change }]
}

/** The handshakes behind a report: the finding that decides what the address is, and every request. */
export async function examineUrl(
  url: string,
  as: ProbeProtocol | undefined,
  client: Fetcher,
  now: () => number,
): Promise<{ chosen: Finding; asked: RequestedStep[] }> {
  const requested: RequestedStep[] = []
  const findings: Finding[] = []
  const watched = { fetch: watch(client, requested) }
  for (const handshake of toHandshakes(url, as)) {
    if (isSettled(handshake, findings)) break
    const finding = await probeHandshake(handshake, watched, now)
    findings.push(finding)
    // Stop once a protocol spoke, or once the host cannot be reached.
    if (finding.outcome === 'spoke' || finding.failure !== undefined) break
    if (finding.outcome === 'unknown') break
  }
  return { chosen: chooseFinding(findings) ?? NOTHING, asked: requested }
}

/**
 * The finding that decides what an address is: the best one, else that of the protocol the address seems meant for.
 */
function chooseFinding(findings: readonly Finding[]): Finding | undefined {
  return (
    findings.find(({ outcome }) => outcome === 'spoke') ??
    findings.find(({ outcome, sight }) => outcome === 'gated' && sight !== undefined) ??
    findings.find(({ outcome }) => outcome === 'gated') ??
    findings.find(({ outcome }) => outcome === 'unknown') ??
    findings.findLast(({ isMeant }) => isMeant) ??
    findings.find(({ protocol }) => protocol === 'http') ??
    findings[0]
  )
}

/** An address that requires payment, or answers in a protocol's errors, is not tried as plain HTTP. */
function isSettled({ kind }: Handshake, findings: readonly Finding[]): boolean {
  const meant = findings.filter(({ isMeant }) => isMeant)
  return (
    (kind === 'http' && meant.length > 0) ||
    (kind === 'a2a' && meant.some(({ status, sight }) => status === 402 || sight !== undefined))
  )
}

const NOTHING: Finding = { protocol: 'http', outcome: 'unprobeable', saw: 'no request was sent' }

function toHandshakes(url: string, as: ProbeProtocol | undefined): Handshake[] {
  const plan = (method: 'GET' | 'POST', rails: ('x402' | 'mpp')[]): Handshake => {
    const sent = method === 'POST' && { body: '{}' }
    const headers = sent ? { 'content-type': 'application/json' } : undefined
    const request = { method, url, headers: { ...headers }, ...sent }
    const [is_paid, operation] = [rails.length > 0, { method, url }]
    const kind = is_paid ? 'payment' : 'http'
    const planned = { request, operation, is_paid, expected: null, is_guess: false }
    return { kind, rails, requests: [planned] }
  }
  const card = /\.json$/.test(new URL(url).pathname)
    ? [url]
    : CARD_PATHS.map((path) => new URL(path, url).href)
  const all: Record<ProbeProtocol, Handshake[]> = {
    mcp: [{ kind: 'mcp', url }],
    x402: [plan('GET', ['x402']), plan('POST', ['x402'])],
    mpp: [plan('GET', ['mpp']), plan('POST', ['mpp'])],
    a2a: [{ kind: 'a2a', urls: card }],
    http: [plan('GET', [])],
  }
  if (as !== undefined) return all[as]
  const either = [plan('GET', ['x402', 'mpp']), plan('POST', ['x402', 'mpp'])]
  return [...all.mcp, ...either, ...all.a2a, ...all.http]
}

function watch({ fetch }: Fetcher, requested: RequestedStep[]): Fetcher['fetch'] {
  return async (request) => {
    const reply = await fetch(request)
    const url = toInertLine(request.url, MAX_SHOWN_URL)
    requested.push({ method: request.method, url, came_back: toWords(reply) })
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

/**
 * Probes a listing's service as the prober does, operation by operation, and reports where the
 * answers and the listing disagree.
 * @param own errors found in the listing itself
 * @param declared the listing's operations that declare a good answer
 * @param now milliseconds since the epoch
 */
export async function lintPlan(
  target: string,
  plan: ProbePlan,
  client: Fetcher,
  now: () => number,
  {
    own = [],
    declared = [],
  }: { own?: readonly LintProblem[]; declared?: readonly DeclaredOperation[] } = {},
): Promise<LintReport> {
  const requested: RequestedStep[] = []
  const finding = await probeHandshake(plan.handshake, { fetch: watch(client, requested) }, now)
  const { drift = [] } = mergeFinding({}, finding, plan, toInstant(now()))
  const drifted = drift.map((row) => ({
    what: toInertLine(toDriftSentence(row), MAX_SENTENCE),
    change: 'Make the service and the listing agree.',
  }))
  return toLintReport(target, finding, requested, [
    ...own,
    ...drifted,
    ...judgeDeclared(declared, finding),
  ])
}

/** The listing with an operation at this address, or the only listing at a bare origin. */
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

/** Operations as declared and as probed; other kinds of listings have only one address. */
function addressesOf({ handshake }: ProbePlan): string[] {
  const requests = 'requests' in handshake ? handshake.requests : []
  return requests.flatMap(({ request, operation }) => [request.url, operation.url])
}

const { requests: MAX_REQUESTS, runMs: RUN_MS, retryAfterS: RETRY_S, perHost } = ANONYMOUS_PROBES

type AnonymousProbes = ReturnType<typeof createAnonymousProbes>

/**
 * Requests that strangers make this service send when they check an address. Each client and each
 * host may have one run at a time; other runs are refused. A run ends when its caller leaves.
 */
export function createAnonymousProbes({
  config,
  resolver,
  sign,
}: Pick<Parts, 'config' | 'resolver' | 'sign'>) {
  const clients = createBudget(ANONYMOUS_PROBES)
  const hosts = createBudget({
    perClient: perHost,
    perNetwork: perHost,
    inAll: ANONYMOUS_PROBES.inAll,
  })
  return {
    async run<T>(url: string, caller: Caller, work: (client: Fetcher) => Promise<T>) {
      const host = new URL(url).host.replace(/\.(?=:|$)/, '')
      const leave = enter(clients, hosts, caller.client, host)
      if (typeof leave === 'string')
        refuse('rate-limited', {
          detail: `${REASONS[leave]} Try again in ${RETRY_S} s.`,
          headers: { 'Retry-After': String(RETRY_S) },
        })
      const isOwnAddress = caller.socket && createOwnAddress(config.HOST, caller.socket)
      await using http = createHttpClient('stranger', { config, resolver, sign, isOwnAddress })
      return await work(bound(http, caller.signal)).finally(leave)
    },
  }
}

/** @returns a function that frees both slots, or the reason why there are none */
function enter(clients: Budget, hosts: Budget, client: string, host: string) {
  const place = clients.take(client)
  if (typeof place === 'string') return place
  const visit = hosts.take(host)
  if (typeof visit !== 'string')
    return () => {
      place.release()
      visit.release()
    }
  place.release()
  return 'host'
}

const REASONS: Record<Reached | 'host', string> = {
  client: 'Each client may check one address at a time, and one check of yours is running.',
  network: 'Several checks for your network are running.',
  host: 'This host is being checked for somebody else.',
  process: 'Many checks are running.',
}

/** Limits what a run sends and how long it takes; ends it at once when its caller leaves. */
function bound(http: Fetcher, left: AbortSignal): Fetcher {
  const deadline = AbortSignal.timeout(RUN_MS)
  const end = AbortSignal.any([left, deadline])
  let sent = 0
  return {
    async fetch(request) {
      if (sent >= MAX_REQUESTS) return toCutOff(`${MAX_REQUESTS} requests`)
      sent += 1
      const { signal } = request
      const reply = await http.fetch({
        ...request,
        signal: signal === undefined ? end : AbortSignal.any([end, signal]),
      })
      const isComplete = reply.answered && reply.answer.cut === null
      return end.aborted && !isComplete ? toCutOff(`${RUN_MS / 1000} s`) : reply
    },
  }
}

function toCutOff(detail: string): ProbeReply {
  return { answered: false, failure: 'own_bound', detail, ms: 0 }
}

function toCaller({ req }: Pick<H3Event, 'req'>, config: Config): Caller {
  return {
    client: clientOf(req, config),
    signal: req.signal,
    socket: req.runtime?.node?.req.socket,
  }
}

function toPageCaller(req: IncomingMessage, res: ServerResponse, config: Config): Caller {
  const left = new AbortController()
  res.once('close', () => {
    if (!res.writableEnded) left.abort()
  })
  return { client: nodeClientOf(req, config), signal: left.signal, socket: req.socket }
}
