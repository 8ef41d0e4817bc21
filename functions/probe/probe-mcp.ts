import { toFailureFinding } from '../../src/domain/probe/read/common-outcome.ts'
import { type Finding, toFinding } from '../../src/domain/probe/read/finding.ts'
import {
  createEventReader,
  findRpcReply,
  parseRpcReply,
  type RpcReply,
} from '../../src/domain/probe/read/json-rpc.ts'
import { judgeNoMcp, toMcpFinding } from '../../src/domain/probe/read/judge-mcp.ts'
import {
  isCurrentEraError,
  type McpMessage,
  type McpServerInfo,
  type McpSession,
  readDiscovered,
  readInitialized,
  toCurrentRequest,
  toFormerToolsList,
  toInitialize,
  toInitialized,
  toSessionHeaders,
} from '../../src/domain/probe/read/mcp-messages.ts'
import { SEEN } from '../../src/domain/probe/read/mcp-tools.ts'
import {
  headerOf,
  mediaTypeOf,
  type ProbeAnswer,
  type ProbeReply,
} from '../../src/domain/probe/read/probe-answer.ts'
import type { Asker } from './ask.ts'
import { isSseOnly } from './probe-mcp-sse.ts'

/** Pages of `tools/list` that are read; a server that always has one more is cut here. */
const MAX_PAGES = 20

export interface McpTarget {
  url: string
  asker: Pick<Asker, 'ask'>
  /** Milliseconds since the epoch. */
  now: () => number
}

/**
 * The handshake of a remote MCP server over streamable HTTP. The current revision is tried first
 * (`server/discover`); a server that does not know it is asked to `initialize`. Then `tools/list`.
 */
export async function probeMcp(target: McpTarget): Promise<Finding> {
  const discover = await post(target, toCurrentRequest(1, 'server/discover'))
  if (!discover.answered) return toFailureFinding('mcp', discover)
  const info = discover.reply?.kind === 'result' ? readDiscovered(discover.reply.result) : null
  if (info !== null) return listTools(target, info, discover.answer, null)
  if (isFinal(discover.answer) || isCurrentEraError(discover.reply))
    return judgeNoMcp(discover.answer, discover.reply, target.now())
  return probeFormer(target, discover.answer)
}

/** Answers that `initialize` would not change. Servers answer all sorts to a method they don't know. */
function isFinal({ status }: ProbeAnswer): boolean {
  return [401, 402, 403, 429, 503].includes(status) || (status >= 300 && status <= 399)
}

async function probeFormer(target: McpTarget, first: ProbeAnswer): Promise<Finding> {
  const opened = await post(target, toInitialize(2))
  if (!opened.answered) return toFailureFinding('mcp', opened)
  const info = opened.reply?.kind === 'result' ? readInitialized(opened.reply.result) : null
  if (info === null) return judgeUnopened(target, opened.answer, opened.reply)
  const id = headerOf(opened.answer, 'mcp-session-id') ?? null
  const session: McpSession = { version: info.protocol, id }
  try {
    await post(target, toInitialized(session))
    return await listTools(target, info, { ...opened.answer, ms: first.ms }, session)
  } finally {
    // A server that keeps sessions need not keep ours.
    if (id !== null)
      await target.asker.ask({
        method: 'DELETE',
        url: target.url,
        headers: toSessionHeaders(session),
      })
  }
}

/** A server of the first transport answers a POST to its stream's address with 404 or 405. */
async function judgeUnopened(
  { url, asker, now }: McpTarget,
  answer: ProbeAnswer,
  reply: RpcReply | null,
): Promise<Finding> {
  const mayBeSse = [400, 404, 405].includes(answer.status)
  if (mayBeSse && (await isSseOnly(asker, url)))
    return toFinding({
      protocol: 'mcp',
      outcome: 'wrong_protocol',
      status: answer.status,
      ms: Math.round(answer.ms),
      saw: 'only the former HTTP+SSE transport; the listing declares streamable HTTP',
    })
  return judgeNoMcp(answer, reply, now())
}

/** @param session of a former revision, or null for the current one */
async function listTools(
  target: McpTarget,
  info: McpServerInfo,
  first: ProbeAnswer,
  session: McpSession | null,
): Promise<Finding> {
  const values: unknown[] = []
  let cursor: string | undefined
  for (let page = 0; info.hasTools && page < MAX_PAGES; page += 1) {
    const params = cursor === undefined ? {} : { cursor }
    const listed = await post(target, toToolsList(10 + page, session, params))
    if (!listed.answered) return toUnlisted(listed, info, values, first)
    const result = listed.reply?.kind === 'result' ? listed.reply.result : {}
    if (!Array.isArray(result.tools)) return judgeNoMcp(listed.answer, listed.reply, target.now())
    // One more than is kept: what follows sees by it that there were more.
    for (const tool of result.tools.slice(0, SEEN.tools + 1)) values.push(tool)
    cursor = typeof result.nextCursor === 'string' ? result.nextCursor : undefined
    if (cursor === undefined || values.length > SEEN.tools) break
  }
  return toMcpFinding(info, { values, isCut: cursor !== undefined }, first)
}

/** A list that our own bounds cut off after its first page is a list; any other silence is a failure. */
function toUnlisted(
  silence: Extract<ProbeReply, { answered: false }>,
  info: McpServerInfo,
  values: unknown[],
  first: ProbeAnswer,
): Finding {
  return silence.failure === 'own_bound' && values.length > 0
    ? toMcpFinding(info, { values, isCut: true }, first)
    : toFailureFinding('mcp', silence)
}

function toToolsList(id: number, session: McpSession | null, params: Record<string, unknown>) {
  return session === null
    ? toCurrentRequest(id, 'tools/list', params)
    : toFormerToolsList(id, session, params)
}

type Posted =
  | Extract<ProbeReply, { answered: false }>
  | { answered: true; answer: ProbeAnswer; reply: RpcReply | null }

/** One message; of a stream only as much is read as holds its answer. */
async function post({ url, asker }: McpTarget, message: McpMessage): Promise<Posted> {
  const { id, headers, body } = message
  const readEvents = createEventReader()
  const asked = await asker.ask({
    method: 'POST',
    url,
    body,
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      ...headers,
    },
    isEnough: (piece) =>
      id !== null && readEvents(piece).some(({ data }) => parseRpcReply(data, id) !== null),
  })
  if (!asked.answered) return asked
  const { answer } = asked
  const reply = id === null ? null : findRpcReply(answer.body, mediaTypeOf(answer), id)
  return { answered: true, answer, reply }
}
