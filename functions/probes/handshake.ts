import { parse } from 'tldts'
import { judgeCard } from '../../src/domain/probe/a2a.ts'
import {
  type Finding,
  headerOf,
  judgeStatus,
  mediaTypeOf,
  type OtherAnswer,
  type PaymentTerm,
  type ProbeAnswer,
  type ProbeReply,
  readMppTerms,
  type Sight,
  toFailureFinding,
  toFinding,
  toHeadText,
  toOfferWords,
  toWrong,
} from '../../src/domain/probe/finding.ts'
import {
  askTerms,
  DISCOVER,
  INITIALIZE,
  listTools,
  MCP_FORMER,
  type McpMessage,
  type McpServerInfo,
  type McpSession,
  parseRpcReply,
  RIGHT_MCP,
  type RpcReply,
  readDiscovered,
  readInitialized,
  readRpcTerms,
  toInitialized,
  toMcpFinding,
  toSessionHeaders,
} from '../../src/domain/probe/mcp.ts'
import type { Handshake, PlannedOperation } from '../../src/domain/probe/plan.ts'
import {
  judgeHttp,
  judgePayment,
  readX402Terms,
  toMissingTerms,
} from '../../src/domain/probe/x402.ts'
import type { DeclaredResponse } from '../../src/domain/relay/declared-answer.ts'
import { isJsonType, type Judgement, judgeDelivery } from '../../src/domain/relay/judge.ts'
import { withDocument } from '../../src/domain/sellers/lint.ts'
import { isJsonObject, largestOf } from '../../src/domain/wire/json.ts'
import type { Rail } from '../../src/domain/wire/vocabulary.ts'
import type { Fetcher } from '../net/http-client.ts'
import { readNamedMetadata, readSignIn } from './sign-in.ts'

/** Time limit for a whole handshake, however many requests it takes (milliseconds). */
const HANDSHAKE_MS = 45_000

/**
 * One probe: sends the planned requests and returns the outcome. It pays nothing, sends no message
 * to an agent, follows no redirect and calls only what is declared safe. Never rejects.
 * @param now milliseconds since the epoch
 */
export async function probeHandshake(
  handshake: Handshake,
  { fetch }: Fetcher,
  now: () => number,
): Promise<Finding> {
  const deadline = AbortSignal.timeout(HANDSHAKE_MS)
  const client: Fetcher = {
    fetch: ({ signal = deadline, ...request }) =>
      fetch({ ...request, signal: AbortSignal.any([deadline, signal]) }),
  }
  switch (handshake.kind) {
    case 'payment':
    case 'http':
      return askOperations(handshake, client, now, deadline)
    case 'mcp':
      return probeMcp({ url: handshake.url, isPaid: handshake.is_paid, client, now })
    case 'mcp_sse':
      return probeMcpSse({ url: handshake.url, isPaid: handshake.is_paid, client, now })
    case 'a2a':
      return probeCard(handshake.urls, client, now)
    case 'none': {
      const { protocol, reason: saw } = handshake
      return toFinding({ protocol, outcome: 'unprobeable', saw })
    }
  }
}

/** Tries the card's paths in turn; only a 404 leads to the next path. */
async function probeCard(urls: readonly string[], client: Fetcher, now: () => number) {
  const [url = '', ...others] = urls
  const headers = { 'a2a-version': '1.0' }
  const reply = await client.fetch({ method: 'GET', url, headers })
  if (!reply.answered) return toFailureFinding('a2a', reply)
  if (reply.answer.status === 404 && others.length > 0) return probeCard(others, client, now)
  return judgeCard(reply.answer, url, isSameSite, now())
}

/** @example isSameSite('api.foo.com', 'foo.com') → true; isSameSite('a.vercel.app', 'b.vercel.app') → false */
function isSameSite(left: string, right: string): boolean {
  const [a, b] = [left, right].map((host) => parse(host, { allowPrivateDomains: true }).domain)
  return left === right || (a !== null && a !== undefined && a === b)
}

type OfOperations = Extract<Handshake, { kind: 'payment' | 'http' }>

/**
 * Probes an HTTP listing's operations in turn; the others are probed only if the first one answers in its protocol.
 * @param deadline end of the handshake: a request that it cuts off is no evidence about the seller
 */
export async function askOperations(
  handshake: OfOperations,
  client: Fetcher,
  now: () => number,
  deadline: AbortSignal,
): Promise<Finding> {
  const [planned, ...more] = handshake.requests
  const ask = (operation: PlannedOperation) => askOne(operation, handshake.rails, client, now)
  const first = await ask(planned)
  if (first.outcome !== 'spoke') return first
  const others: OtherAnswer[] = []
  for (const other of more) {
    const finding = await ask(other)
    if (deadline.aborted) break
    others.push({ operation: other.operation, finding })
    // The seller wants to be left alone, or our own network failed, so the rest waits for another run.
    if (finding.outcome === 'unknown') break
  }
  const waits = others.flatMap(({ finding }) => finding.retryAfterS ?? [])
  return {
    ...first,
    ...(others.length > 0 && { others }),
    ...(waits.length > 0 && { retryAfterS: largestOf(waits) }),
  }
}

async function askOne(
  { request, operation, is_paid, is_guess, expected, shape }: PlannedOperation,
  rails: readonly Rail[],
  client: Fetcher,
  now: () => number,
): Promise<Finding> {
  const { body, headers, ...requested } = request
  const accept = is_paid || expected === null ? {} : { accept: expected }
  const reply = await client.fetch({
    ...requested,
    headers: { ...accept, ...headers },
    ...(body !== undefined && { body }),
  })
  const protocol = rails.includes('x402') ? 'x402' : 'mpp'
  if (!reply.answered) return toFailureFinding(is_paid ? protocol : 'http', reply)
  const { answer } = reply
  // If an operation listed as free requires payment, the terms are read too: its price has changed.
  const isPayment = is_paid || (answer.status === 402 && rails.length > 0)
  if (isPayment) return judgePayment(answer, { ...operation, isGuess: is_guess }, rails, now())
  const finding = judgeHttp(answer, operation, expected, now())
  if (finding.outcome === 'spoke' && expected === null)
    return withDocument(finding, answer, request.url)
  if (finding.outcome !== 'spoke' || expected === null || shape === undefined) return finding
  const judged = judgeHeard({ content_type: expected, ...shape }, answer)
  return { ...finding, ...(judged !== null && { judged }) }
}

/** The verdict on a free answer; null if the answer was cut off or is binary, because a probe reads only text. */
function judgeHeard(declared: DeclaredResponse, answer: ProbeAnswer): Judgement | null {
  const { content_type } = declared
  const isText = isJsonType(content_type) || content_type.startsWith('text/')
  if (answer.cut !== null || !isText) return null
  const body = new TextEncoder().encode(answer.body)
  return judgeDelivery(declared, { status: answer.status, end: 'whole', body })
}

interface McpTarget {
  url: string
  client: Fetcher
  /** Whether the listing says that calls are paid: then read-only tools are called to learn their terms. */
  isPaid?: boolean | undefined
  /** Milliseconds since the epoch. */
  now: () => number
}

/**
 * The handshake with a remote MCP server over streamable HTTP. The current revision is tried first
 * (`server/discover`); a server that does not know it is sent `initialize`. Then comes `tools/list`.
 *
 * The official client is stricter: it gives up if `server/discover` is answered with a 500, a page or an error
 * without an id, and one malformed tool or a server without a version makes it hide everything else from its caller.
 * Such servers do speak MCP, and their tools are worth knowing.
 */
async function probeMcp(target: McpTarget): Promise<Finding> {
  const discover = await post(target, DISCOVER)
  if (!discover.answered) return toFailureFinding('mcp', discover)
  const info = readDiscovered(discover.reply)
  if (info !== null) return findTools(target, info, discover.answer, null)
  const { status } = discover.answer
  // `initialize` would get the same status; any other status may mean that the method is unknown.
  const isFinal = [401, 402, 403, 429, 503].includes(status) || (status >= 300 && status <= 399)
  if (isFinal || isCurrentEraError(discover.reply))
    return judgeRefusal(target, discover.answer, discover.reply)
  return probeFormer(target, discover)
}

/** @param first the answer to `server/discover`: some servers open a session whatever they are sent */
async function probeFormer(
  target: McpTarget,
  first: Extract<Posted, { answered: true }>,
): Promise<Finding> {
  const isOpen = readInitialized(first.reply) !== null
  const opened = isOpen ? first : await post(target, INITIALIZE)
  if (!opened.answered) return toFailureFinding('mcp', opened)
  const info = readInitialized(opened.reply)
  if (info === null) return judgeUnopened(target, opened.answer, opened.reply)
  const id = headerOf(opened.answer, 'mcp-session-id') ?? null
  const session: McpSession = { version: info.protocol, id }
  try {
    await post(target, toInitialized(session))
    return await findTools(target, info, { ...opened.answer, ms: first.answer.ms }, session)
  } finally {
    const headers = toSessionHeaders(session)
    // Ends our session, because the server would otherwise keep it for nothing.
    if (id !== null) await target.client.fetch({ method: 'DELETE', url: target.url, headers })
  }
}

/** A server that has only the HTTP+SSE transport answers a POST to its stream with 404 or 405. */
async function judgeUnopened(
  target: McpTarget,
  answer: ProbeAnswer,
  reply: RpcReply | null,
): Promise<Finding> {
  const mayBeSse = [400, 404, 405].includes(answer.status)
  if (!mayBeSse || !(await isSseOnly(target.client, target.url)))
    return judgeRefusal(target, answer, reply)
  const saw = 'only the former HTTP+SSE transport, but the listing declares streamable HTTP'
  return toFinding({ protocol: 'mcp', outcome: 'wrong_protocol', saw }, answer)
}

async function findTools(
  target: McpTarget,
  info: McpServerInfo,
  first: ProbeAnswer,
  session: McpSession | null,
): Promise<Finding> {
  const seen: { last?: Posted } = {}
  const ask = async (message: McpMessage) => {
    seen.last = await post(target, message)
    return seen.last.answered ? seen.last.reply : null
  }
  const listed = await listTools(ask, info, session)
  const { last } = seen
  if (listed.fault === undefined || last === undefined) {
    const terms = await askTerms(ask, listed.values, session, target.isPaid ?? false)
    return toMcpFinding(info, listed, first, terms)
  }
  if (last.answered) {
    const finding = await judgeRefusal(target, last.answer, last.reply)
    return session === null ? finding : judgeBrokenSession(finding, session)
  }
  // It is fine if our own limits cut a list off after its first page; any other missing answer is a failure.
  return last.failure === 'own_bound' && listed.values.length > 0
    ? toMcpFinding(info, listed, first)
    : toFailureFinding('mcp', last)
}

type Posted =
  | Extract<ProbeReply, { answered: false }>
  | { answered: true; answer: ProbeAnswer; reply: RpcReply | null }

const JSON_TYPE = { 'content-type': 'application/json' }
const EVENT_TYPE = 'text/event-stream'

/** Sends one message; a stream is read only until its answer. */
async function post(
  { url, client }: McpTarget,
  { id, headers, body }: McpMessage,
): Promise<Posted> {
  const readEvents = createEventReader()
  const reply = await client.fetch({
    method: 'POST',
    url,
    body,
    headers: { ...JSON_TYPE, accept: `application/json, ${EVENT_TYPE}`, ...headers },
    isEnough: (piece) =>
      id !== null && readEvents(piece).some(({ data }) => parseRpcReply(data, id) !== null),
  })
  if (!reply.answered) return reply
  const { answer } = reply
  const texts =
    mediaTypeOf(answer) === EVENT_TYPE
      ? createEventReader()(`${answer.body}\n\n`).map(({ data }) => data)
      : [answer.body]
  const replies = id === null ? [] : texts.map((text) => parseRpcReply(text, id))
  return { answered: true, answer, reply: replies.find((reply) => reply !== null) ?? null }
}

/** Whether this address opens a stream that names where to post. */
async function isSseOnly(client: McpTarget['client'], url: string): Promise<boolean> {
  const stream = openStream(client, url)
  const endpoint = await stream.endpoint
  stream.close()
  return endpoint !== null
}

/** The handshake over HTTP+SSE (2024): a stream names where to POST, and carries the answers. */
async function probeMcpSse(target: McpTarget): Promise<Finding> {
  const { url, client, now, isPaid = false } = target
  const stream = openStream(client, url)
  try {
    const address = await stream.endpoint
    if (address === null) return await judgeStream(await stream.ended, { url, client, now })
    const ask = (message: McpMessage) => stream.post(address, message)
    const opened = await ask(INITIALIZE)
    const info = readInitialized(opened)
    if (info === null) return unanswered('initialize', opened)
    const session = { version: info.protocol, id: null }
    await ask(toInitialized(session))
    const listed = await listTools(ask, info, session)
    if (listed.fault !== undefined) return unanswered('tools/list', listed.fault)
    const terms = await askTerms(ask, listed.values, session, isPaid)
    return toMcpFinding(info, listed, { status: 200, ms: stream.ms() }, terms)
  } finally {
    stream.close()
  }
}

function openStream(client: McpTarget['client'], url: string) {
  const stop = new AbortController()
  const { signal } = stop
  const readEvents = createEventReader()
  const endpoint = Promise.withResolvers<string | null>()
  const waiting = new Map<number, (reply: RpcReply | null) => void>()
  const started = performance.now()
  let ms = 0
  const hear = (event: string, data: string) => {
    if (event === 'endpoint') {
      ms = performance.now() - started
      return endpoint.resolve(toEndpoint(data, url))
    }
    for (const [id, answer] of waiting) {
      const reply = parseRpcReply(data, id)
      if (reply !== null) answer(reply)
    }
  }
  const isEnough = (piece: string) => {
    for (const { event, data } of readEvents(piece)) hear(event, data)
    return false
  }
  const headers = { accept: EVENT_TYPE }
  const ended = client.fetch({ method: 'GET', url, headers, signal, isEnough })
  void ended.then(() => endpoint.resolve(null))
  return {
    endpoint: endpoint.promise,
    ended,
    ms: () => ms,
    close: () => stop.abort(),
    async post(address: string, { id, body, headers }: McpMessage): Promise<RpcReply | null> {
      const { promise, resolve } = Promise.withResolvers<RpcReply | null>()
      if (id !== null) waiting.set(id, resolve)
      const requested = {
        method: 'POST',
        url: address,
        body,
        headers: { ...headers, ...JSON_TYPE },
      }
      const posted = await client.fetch({ ...requested, signal })
      if (id === null || !posted.answered || posted.answer.status > 299) return null
      return Promise.race([promise, ended.then(() => null)])
    },
  }
}

/** The address, if it is on the stream's own origin: a seller must not send us anywhere else. */
function toEndpoint(data: string, url: string): string | null {
  const target = URL.parse(data.trim(), url)
  return target?.origin === new URL(url).origin ? target.href : null
}

async function judgeStream(reply: ProbeReply, target: McpTarget): Promise<Finding> {
  if (!reply.answered) return toFailureFinding('mcp', reply)
  const { answer } = reply
  if (answer.status === 401) return judgeRefusal(target, answer, null)
  const saw = `${toHeadText(answer)}, no stream that names its endpoint`
  return judgeStatus('mcp', answer, target.now()) ?? toWrong('mcp', answer, saw)
}

function unanswered(method: string, reply: RpcReply | null): Finding {
  return {
    protocol: 'mcp',
    outcome: reply === null ? 'dead' : 'wrong_protocol',
    saw: `the stream opened, but ${method} was ${reply === null ? 'not answered' : 'refused'}`,
  }
}

/** The finding for a refusal, with the place to get a token if the server requires one and names the place. */
async function judgeRefusal(
  target: { url: string; client: Fetcher; now: () => number },
  answer: ProbeAnswer,
  reply: RpcReply | null,
): Promise<Finding> {
  const finding = judgeNoMcp(answer, reply, target.now())
  if (answer.status !== 401) return finding
  const named = readNamedMetadata(answer)
  const read = (url: string) => readMetadata(target.client, url)
  const signIn = await readSignIn({ url: target.url, named, read })
  return signIn === null ? finding : { ...finding, signIn }
}

async function readMetadata(client: Fetcher, url: string): Promise<string | null> {
  const headers = { accept: 'application/json' }
  const reply = await client.fetch({ method: 'GET', url, headers })
  return reply.answered && reply.answer.status === 200 && reply.answer.cut === null
    ? reply.answer.body
    : null
}

/** An answer that ended the handshake before a server introduced itself. */
function judgeNoMcp(answer: ProbeAnswer, reply: RpcReply | null, now: number): Finding {
  if (answer.status === 402) return toPaidEndpoint(answer)
  const terms = readRpcTerms(reply)
  if (terms.length > 0) return toPaid(answer, terms, 'a JSON-RPC error before the handshake, with')
  const common = judgeStatus('mcp', answer, now)
  if (common !== null) return common
  if (reply?.kind === 'error')
    return toWrong('mcp', answer, `JSON-RPC error ${reply.code}: ${reply.message}`, RIGHT_MCP)
  return toWrong('mcp', answer, `${toHeadText(answer)}, no answer to initialize`)
}

/** An MCP endpoint behind a payment: its terms and payouts are read, but its tools cannot be seen. */
function toPaidEndpoint(answer: ProbeAnswer): Finding {
  const read = [readX402Terms(answer), readMppTerms(answer)]
  const terms = read.flatMap((each) => (each.found ? each.terms : []))
  if (terms.length > 0) return toPaid(answer, terms, '402 before the handshake, with')
  const { what, change } = toMissingTerms(read)
  return toWrong('mcp', answer, `status 402, ${what}`, change, what)
}

function toPaid(answer: ProbeAnswer, terms: PaymentTerm[], words: string): Finding {
  const saw = `${words} ${toOfferWords(terms)}`
  const from = terms.some(({ rail }) => rail === 'x402') ? 'x402' : 'mpp'
  const isMeant = answer.status !== 402 && { isMeant: true as const }
  const sight: Sight = { from, terms }
  return toFinding({ protocol: 'mcp', outcome: 'gated', saw, sight, ...isMeant }, answer)
}

/** A server that introduced itself and then refused the session it had opened. */
function judgeBrokenSession(finding: Finding, { id }: McpSession): Finding {
  if (id === null || (finding.outcome !== 'dead' && finding.outcome !== 'wrong_protocol'))
    return finding
  const saw = `initialize gave an Mcp-Session-Id, but tools/list with that id answered ${finding.saw}`
  const change =
    'Keep the session that initialize opened and answer requests with its id, on every machine behind the address; or send no Mcp-Session-Id.'
  return toFinding({ ...finding, saw, isMeant: true, faults: [{ what: saw, change }] })
}

/** The error by which a server of the current era says that it does not speak the requested revision. */
const UNSUPPORTED_VERSION = -32_022

/** Errors that only a server of the current era gives: bad headers, missing capability, version. */
const CURRENT_ERRORS = new Set([-32_020, -32_021, UNSUPPORTED_VERSION])

/** Whether a server of the current era refused this request, so that `initialize` would not help. */
function isCurrentEraError(reply: RpcReply | null): boolean {
  if (reply?.kind !== 'error' || !CURRENT_ERRORS.has(reply.code)) return false
  if (reply.code !== UNSUPPORTED_VERSION) return true
  // Such a server may also support former revisions, for which `initialize` works.
  const supported = isJsonObject(reply.data) ? reply.data.supported : undefined
  return !(Array.isArray(supported) && supported.some((each) => String(each) <= MCP_FORMER))
}

/** Reads each character once. @returns a function that takes a chunk and returns the events that the chunk completes */
export function createEventReader(): (piece: string) => { event: string; data: string }[] {
  let rest = ''
  let event = ''
  let data: string[] = []
  const readLine = (line: string) => {
    if (line.startsWith('data:')) data.push(line.slice(5).replace(/^ /, ''))
    if (line.startsWith('event:')) event = line.slice(6).trim()
    if (line !== '') return []
    const whole = { event: event || 'message', data: data.join('\n') }
    const isEmpty = data.length === 0
    event = ''
    data = []
    return isEmpty ? [] : [whole]
  }
  return (piece) => {
    const [first = '', ...others] = piece.split('\n')
    const lines = [rest + first, ...others]
    rest = lines.pop() ?? ''
    return lines.flatMap((line) => readLine(line.endsWith('\r') ? line.slice(0, -1) : line))
  }
}
