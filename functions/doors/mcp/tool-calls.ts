import {
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Implementation,
  type JSONRPCResultResponse,
  PROTOCOL_VERSION_META_KEY,
  SERVER_INFO_META_KEY,
  SUPPORTED_PROTOCOL_VERSIONS,
} from '@modelcontextprotocol/server'
import * as v from 'valibot'
import { MPP_CREDENTIAL_META } from '../../../src/domain/doors/mpp-call.ts'
import { PAYMENT_META } from '../../../src/domain/doors/paid-call.ts'
import { failWith } from './mcp-texts.ts'
import type { Tool } from './mcp-tool.ts'

const number = v.pipe(v.number(), v.safeInteger())
const nothing = v.optional(v.strictObject({}))
const meta = {
  progressToken: v.optional(v.union([v.string(), number])),
  [PAYMENT_META]: v.optional(v.unknown()),
  [MPP_CREDENTIAL_META]: v.optional(v.unknown()),
}
/** Each call of this revision carries in `_meta` what others send once in a handshake. */
const NEWEST = '2026-07-28'
const NewestMetaSchema = v.strictObject({
  ...meta,
  [PROTOCOL_VERSION_META_KEY]: v.literal(NEWEST),
  [CLIENT_INFO_META_KEY]: v.strictObject({
    name: v.string(),
    title: v.optional(v.string()),
    version: v.string(),
  }),
  [CLIENT_CAPABILITIES_META_KEY]: v.strictObject({
    elicitation: v.optional(v.strictObject({ form: nothing, url: nothing })),
    roots: v.optional(v.strictObject({ listChanged: v.optional(v.boolean()) })),
    sampling: nothing,
  }),
})
const PlainCallSchema = v.strictObject({
  jsonrpc: v.literal('2.0'),
  id: v.union([v.string(), number]),
  method: v.literal('tools/call'),
  params: v.strictObject({
    name: v.string(),
    arguments: v.optional(v.record(v.string(), v.unknown()), {}),
    _meta: v.optional(v.union([v.strictObject(meta), NewestMetaSchema]), {}),
  }),
})

const TYPES = ['application/json', 'text/event-stream']

/** The answer to a plain call; null for other messages, which the package's own handler takes. */
export type AnswerToolCall = (req: Request, json: unknown) => Promise<JSONRPCResultResponse | null>

/**
 * Answers plain calls of tools, which most messages are, as the official package would, byte for
 * byte. The package makes a server for each request, checks the answer against its own schema and
 * the tool's, and opens an event stream for it. A call needs none of that: tools are stateless, and
 * every client takes JSON. Everything invalid or rare is left to the package.
 *
 * @param serverInfo the server's description in every answer of the newest revision
 */
export function createToolCalls(
  tools: readonly Tool[],
  serverInfo: () => Implementation,
): AnswerToolCall {
  const byName = new Map<string, Tool>(tools.map((tool) => [tool.name, tool]))
  return async function answerToolCall({ headers }, json) {
    const call = v.safeParse(PlainCallSchema, json)
    if (!call.success) return null
    const { id, params } = call.output
    const tool = byName.get(params.name)
    const accept = headers.get('accept') ?? ''
    if (tool === undefined || !TYPES.every((type) => accept.includes(type))) return null
    const isNewest = PROTOCOL_VERSION_META_KEY in params._meta
    if (isNewest ? !isOfNewest(headers, tool) : !isOfFormer(headers)) return null
    const answering = tool.answer(params.arguments, params._meta)
    if (answering === null) return null
    const answer = await answering.catch((error: unknown) =>
      failWith(error instanceof Error ? error.message : String(error)),
    )
    const result = inOrder(answer)
    if (!isNewest) return { result, jsonrpc: '2.0', id }
    const _meta = { ...result._meta, [SERVER_INFO_META_KEY]: serverInfo() }
    return { result: { ...result, resultType: 'complete', _meta }, jsonrpc: '2.0', id }
  }
}

function isOfFormer(headers: Headers): boolean {
  const version = headers.get('mcp-protocol-version')
  return version === null || SUPPORTED_PROTOCOL_VERSIONS.includes(version)
}

/** Whether the header fields repeat the message, as this revision demands. */
function isOfNewest(headers: Headers, { name }: Tool): boolean {
  const said = ['mcp-protocol-version', 'mcp-method', 'mcp-name'].map((field) => headers.get(field))
  return [NEWEST, 'tools/call', name].every((word, at) => said[at] === word)
}

/** The members in the order in which the package writes them. */
function inOrder({ _meta, content, structuredContent, isError }: CallToolResult): CallToolResult {
  return { ...(_meta !== undefined && { _meta }), content, structuredContent, isError }
}
