import {
  InMemoryTransport,
  type JSONRPCResponse,
  type McpServer,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import * as v from 'valibot'

/** A call with nothing beside its arguments: no payment, no progress, no envelope of a later revision. */
const PlainCallSchema = v.strictObject({
  jsonrpc: v.literal('2.0'),
  id: v.union([v.string(), v.pipe(v.number(), v.safeInteger())]),
  method: v.literal('tools/call'),
  params: v.strictObject({
    name: v.string(),
    arguments: v.optional(v.record(v.string(), v.unknown())),
  }),
})
const TYPES = ['application/json', 'text/event-stream']

/** The answer to a plain call; null where the message is no plain call: then the package's own door takes it. */
export type AnswerToolCall = (req: Request, json: unknown) => Promise<JSONRPCResponse | null>

/**
 * Answers plain calls of tools, which most messages are, by one server of the official package that
 * stays. The package's own door makes a server for each request and an event stream for each answer.
 * A call needs neither: tools keep nothing between two calls, and every client takes JSON.
 */
export function createToolCalls(makeServer: () => McpServer): AnswerToolCall {
  const waiting = new Map<unknown, (answer: JSONRPCResponse) => void>()
  const [near, far] = InMemoryTransport.createLinkedPair()
  near.onmessage = (message) => {
    if (!('id' in message) || 'method' in message) return
    waiting.get(message.id)?.(message)
    waiting.delete(message.id)
  }
  let connected: Promise<unknown> | undefined
  let last = 0
  return async function answerToolCall({ headers }, json) {
    const version = headers.get('mcp-protocol-version')
    const accept = headers.get('accept') ?? ''
    const isKnown = version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
    if (!isKnown || !TYPES.every((type) => accept.includes(type))) return null
    if (!v.is(PlainCallSchema, json)) return null
    connected ??= makeServer().connect(far)
    await connected
    // Several callers may count their requests alike.
    last += 1
    const { promise, resolve } = Promise.withResolvers<JSONRPCResponse>()
    waiting.set(last, resolve)
    await near.send({ ...json, id: last })
    return { ...(await promise), id: json.id }
  }
}
