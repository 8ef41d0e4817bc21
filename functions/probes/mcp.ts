import {
  type Finding,
  headerOf,
  judgeStatus,
  mediaTypeOf,
  type ProbeAnswer,
  type ProbeReply,
  toFailureFinding,
  toFinding,
  toHeadText,
  toWrong,
} from '../../src/domain/probe/finding.ts'
import {
  askTerms,
  createEventReader,
  DISCOVER,
  INITIALIZE,
  isCurrentEraError,
  judgeBrokenSession,
  judgeNoMcp,
  listTools,
  type McpMessage,
  type McpServerInfo,
  type McpSession,
  parseRpcReply,
  readDiscovered,
  readInitialized,
  toInitialized,
  toMcpFinding,
  toSessionHeaders,
} from '../../src/domain/probe/mcp.ts'
import { readNamedMetadata } from '../../src/domain/probe/oauth.ts'
import type { RpcReply } from '../../src/domain/probe/x402.ts'
import type { Fetcher } from '../net/http-client.ts'
import { readSignIn } from './sign-in.ts'

interface McpTarget {
  url: string
  client: Fetcher
  /** Its listing says that calls are paid: tools that only read are called unpaid, for their terms. */
  isPaid?: boolean | undefined
  /** Milliseconds since the epoch. */
  now: () => number
}

/**
 * The handshake of a remote MCP server over streamable HTTP. The current revision is tried first
 * (`server/discover`); a server that does not know it is sent `initialize`. Then `tools/list`.
 *
 * The official client does not do this: it gives up where `server/discover` is answered with a 500,
 * a page or an error without an id, and one malformed tool or a server without a version hides all
 * the rest from its caller. Such servers do speak MCP, and their tools are worth knowing.
 */
export async function probeMcp(target: McpTarget): Promise<Finding> {
  const discover = await post(target, DISCOVER)
  if (!discover.answered) return toFailureFinding('mcp', discover)
  const info = readDiscovered(discover.reply)
  if (info !== null) return findTools(target, info, discover.answer, null)
  const { status } = discover.answer
  // `initialize` would not change these. Servers answer an unknown method in all sorts of ways.
  const isFinal = [401, 402, 403, 429, 503].includes(status) || (status >= 300 && status <= 399)
  if (isFinal || isCurrentEraError(discover.reply))
    return judgeRefusal(target, discover.answer, discover.reply)
  return probeFormer(target, discover)
}

/** @param first the answer to another request: some servers open a session whatever they are sent */
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
    // A server with sessions need not keep ours.
    if (id !== null) await target.client.fetch({ method: 'DELETE', url: target.url, headers })
  }
}

/** A server of the first transport answers a POST to its stream with 404 or 405. */
async function judgeUnopened(
  target: McpTarget,
  answer: ProbeAnswer,
  reply: RpcReply | null,
): Promise<Finding> {
  const mayBeSse = [400, 404, 405].includes(answer.status)
  if (!mayBeSse || !(await isSseOnly(target.client, target.url)))
    return judgeRefusal(target, answer, reply)
  const saw = 'only the former HTTP+SSE transport; the listing declares streamable HTTP'
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
  // A list that our own limits cut off after its first page counts; other silence is a failure.
  return last.failure === 'own_bound' && listed.values.length > 0
    ? toMcpFinding(info, listed, first)
    : toFailureFinding('mcp', last)
}

type Posted =
  | Extract<ProbeReply, { answered: false }>
  | { answered: true; answer: ProbeAnswer; reply: RpcReply | null }

const JSON_TYPE = { 'content-type': 'application/json' }
const EVENT_TYPE = 'text/event-stream'

/** One message; a stream is read only until its answer. */
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

/** Does this address open a stream that names where to post? */
async function isSseOnly(client: McpTarget['client'], url: string): Promise<boolean> {
  const stream = openStream(client, url)
  const endpoint = await stream.endpoint
  stream.close()
  return endpoint !== null
}

/** The handshake over HTTP+SSE (2024): a stream names where to POST, and carries the answers. */
export async function probeMcpSse(target: McpTarget): Promise<Finding> {
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

/** Only on the stream's own origin: a seller must not send us anywhere else. */
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

/** A server that requires a token may say where to get one: that is worth knowing too. */
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
