import {
  judgeStatus,
  toFailureFinding,
  toWrong,
} from '../../src/domain/probe/read/common-outcome.ts'
import type { Finding } from '../../src/domain/probe/read/finding.ts'
import {
  createEventReader,
  parseRpcReply,
  type RpcReply,
} from '../../src/domain/probe/read/json-rpc.ts'
import { toMcpFinding } from '../../src/domain/probe/read/judge-mcp.ts'
import {
  type McpMessage,
  readInitialized,
  toFormerToolsList,
  toInitialize,
  toInitialized,
} from '../../src/domain/probe/read/mcp-messages.ts'
import { mediaTypeOf, type ProbeReply } from '../../src/domain/probe/read/probe-answer.ts'
import type { Asker } from './ask.ts'

/** Does this address open a stream whose first event names where to post? */
export async function isSseOnly(asker: Pick<Asker, 'ask'>, url: string): Promise<boolean> {
  const readEvents = createEventReader()
  let isEndpoint = false
  await asker.ask({
    method: 'GET',
    url,
    headers: { accept: 'text/event-stream' },
    isEnough: (piece) => {
      const [first] = readEvents(piece)
      isEndpoint ||= first?.event === 'endpoint'
      return first !== undefined
    },
  })
  return isEndpoint
}

/**
 * The handshake over HTTP+SSE, the transport of 2024, for listings that declare `sse`: a stream that
 * names an address to post to and then carries the answers. It holds two requests at once.
 *
 * @param now milliseconds since the epoch
 */
export async function probeMcpSse(
  asker: Pick<Asker, 'ask'>,
  url: string,
  now: () => number,
): Promise<Finding> {
  const stream = openStream(asker, url)
  try {
    const address = await stream.endpoint
    if (address === null) return judgeStream(await stream.ended, now())
    const ask = (message: McpMessage) => stream.post(address, message)
    const opened = await ask(toInitialize(1))
    const info = opened?.kind === 'result' ? readInitialized(opened.result) : null
    if (info === null) return unanswered('initialize', opened)
    const session = { version: info.protocol, id: null }
    await ask(toInitialized(session))
    const head = { status: 200, ms: stream.ms() }
    if (!info.hasTools) return toMcpFinding(info, { values: [], isCut: false }, head)
    const listed = await ask(toFormerToolsList(2, session, {}))
    if (listed?.kind !== 'result' || !Array.isArray(listed.result.tools))
      return unanswered('tools/list', listed)
    const isCut = typeof listed.result.nextCursor === 'string'
    return toMcpFinding(info, { values: listed.result.tools, isCut }, head)
  } finally {
    stream.close()
  }
}

function openStream(asker: Pick<Asker, 'ask'>, url: string) {
  const stop = new AbortController()
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
  const ended = asker.ask({
    method: 'GET',
    url,
    headers: { accept: 'text/event-stream' },
    signal: stop.signal,
    isEnough: (piece) => {
      for (const { event, data } of readEvents(piece)) hear(event, data)
      return false
    },
  })
  void ended.then(() => {
    endpoint.resolve(null)
    for (const answer of waiting.values()) answer(null)
  })
  return {
    endpoint: endpoint.promise,
    ended,
    ms: () => ms,
    close: () => stop.abort(),
    /** Resolves with the stream's answer, null for a notification or where none came. */
    async post(address: string, { id, body, headers }: McpMessage): Promise<RpcReply | null> {
      const answer = Promise.withResolvers<RpcReply | null>()
      if (id !== null) waiting.set(id, answer.resolve)
      const type = { 'content-type': 'application/json' }
      const posted = await asker.ask({
        method: 'POST',
        url: address,
        body,
        headers: { ...headers, ...type },
        signal: stop.signal,
      })
      if (id === null || !posted.answered || posted.answer.status > 299) return null
      return Promise.race([answer.promise, ended.then(() => null)])
    },
  }
}

/** Only on the stream's own origin: a seller must not send us anywhere else. */
function toEndpoint(data: string, url: string): string | null {
  const target = URL.parse(data.trim(), url)
  return target?.origin === new URL(url).origin ? target.href : null
}

function judgeStream(reply: ProbeReply, now: number): Finding {
  if (!reply.answered) return toFailureFinding('mcp', reply)
  const { answer } = reply
  const type = mediaTypeOf(answer) || 'no content type'
  return (
    judgeStatus('mcp', answer, now) ??
    toWrong('mcp', answer, `status ${answer.status}, ${type}, no stream that names its endpoint`)
  )
}

function unanswered(method: string, reply: RpcReply | null): Finding {
  return {
    protocol: 'mcp',
    outcome: reply === null ? 'dead' : 'wrong_protocol',
    saw: `the stream opened, but ${method} was ${reply === null ? 'not answered' : 'refused'}`,
  }
}
