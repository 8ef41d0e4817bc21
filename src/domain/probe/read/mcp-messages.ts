import { isJsonObject } from '../../wire/parse-json.ts'
import { SEEN } from './mcp-tools.ts'

/** The current revision: every request describes itself, without a handshake or a session. */
export const MCP_CURRENT = '2026-07-28'

/** The last revision with an `initialize` handshake. */
const MCP_FORMER = '2025-11-25'

/** Error of a server of the current era that speaks other revisions than the one asked. */
const UNSUPPORTED_VERSION = -32_022

/** Errors that only a server of the current era gives: bad headers, missing capability, version. */
const CURRENT_ERRORS = new Set([-32_020, -32_021, UNSUPPORTED_VERSION])

const CLIENT = { name: 'directory-probe', version: '1' }

/** Pages of `tools/list` that are read: the limit for a server that always has another. */
const MAX_PAGES = 20

/** One message: its body, and the headers that mirror it over HTTP. A notification has no id. */
export interface McpMessage {
  id: number | null
  headers: Record<string, string>
  body: string
}

/** A session of a former revision, as `initialize` opened it. */
export interface McpSession {
  version: string
  /** Value of `Mcp-Session-Id`, where the server keeps sessions. */
  id: string | null
}

export type RpcReply =
  | { kind: 'result'; result: Record<string, unknown> }
  | { kind: 'error'; code: number; message: string; data: unknown }

/** Sends a message. @returns its answer; null for a notification, and where none came */
export type AskMcp = (message: McpMessage) => Promise<RpcReply | null>

export const DISCOVER = toCurrent(1, 'server/discover', {})

/** The server chooses which of the former revisions it speaks. */
export const INITIALIZE = toMessage(2, 'initialize', {
  protocolVersion: MCP_FORMER,
  capabilities: {},
  clientInfo: CLIENT,
})

export function toInitialized(session: McpSession): McpMessage {
  return toMessage(null, 'notifications/initialized', undefined, toSessionHeaders(session))
}

export function toSessionHeaders({ version, id }: McpSession): Record<string, string> {
  return { 'mcp-protocol-version': version, ...(id !== null && { 'mcp-session-id': id }) }
}

function toToolsList(page: number, session: McpSession | null, cursor: string | undefined) {
  const params = cursor === undefined ? {} : { cursor }
  return session === null
    ? toCurrent(10 + page, 'tools/list', params)
    : toMessage(10 + page, 'tools/list', params, toSessionHeaders(session))
}

function toCurrent(id: number, method: string, params: object): McpMessage {
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': MCP_CURRENT,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  const headers = { 'mcp-protocol-version': MCP_CURRENT, 'mcp-method': method }
  return toMessage(id, method, { ...params, _meta }, headers)
}

function toMessage(
  id: number | null,
  method: string,
  params?: object,
  headers: McpMessage['headers'] = {},
): McpMessage {
  const head = { jsonrpc: '2.0', ...(id !== null && { id }), method }
  return { id, headers, body: JSON.stringify({ ...head, ...(params && { params }) }) }
}

/** Tools page by page, not yet checked. */
export interface ListedTools {
  values: unknown[]
  isCut: boolean
  /** The answer that ended the list early, or null for none. */
  fault?: RpcReply | null
}

/** @param session a former revision's, or null for the current revision */
export async function listTools(
  ask: AskMcp,
  { hasTools }: McpServerInfo,
  session: McpSession | null,
): Promise<ListedTools> {
  const values: unknown[] = []
  let cursor: string | undefined
  for (let page = 0; hasTools && page < MAX_PAGES; page += 1) {
    const reply = await ask(toToolsList(page, session, cursor))
    const result = reply?.kind === 'result' ? reply.result : {}
    if (!Array.isArray(result.tools)) return { values, isCut: true, fault: reply }
    // One more than is kept, so that later steps see that there were more.
    for (const tool of result.tools.slice(0, SEEN.tools + 1)) values.push(tool)
    cursor = typeof result.nextCursor === 'string' ? result.nextCursor : undefined
    if (cursor === undefined || values.length > SEEN.tools) break
  }
  return { values, isCut: cursor !== undefined }
}

/** Servers that could not parse a request answer with an error without an id: it counts too. */
export function parseRpcReply(text: string, id: number): RpcReply | null {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return null
  }
  const message = Array.isArray(value)
    ? value.find((each) => isJsonObject(each) && each.id === id)
    : value
  if (!isJsonObject(message) || message.jsonrpc !== '2.0') return null
  const isOurs = message.id === id
  if (isOurs && isJsonObject(message.result)) return { kind: 'result', result: message.result }
  const { error } = message
  if (!isJsonObject(error) || typeof error.code !== 'number') return null
  if (!isOurs && message.id !== null && message.id !== undefined) return null
  return { kind: 'error', code: error.code, message: String(error.message), data: error.data }
}

export type McpServerInfo = ReturnType<typeof toInfo>

const REVISION = /^\d{4}-\d{2}-\d{2}$/

/** @returns null where it is not a result of `initialize`. */
export function readInitialized(reply: RpcReply | null): McpServerInfo | null {
  if (reply?.kind !== 'result') return null
  const { protocolVersion, serverInfo, capabilities } = reply.result
  if (typeof protocolVersion !== 'string' || !REVISION.test(protocolVersion)) return null
  if (!isJsonObject(serverInfo) || !isJsonObject(capabilities)) return null
  return toInfo(serverInfo, capabilities, protocolVersion)
}

/** @returns null where it is not a result of `server/discover`, or not of our revision. */
export function readDiscovered(reply: RpcReply | null): McpServerInfo | null {
  if (reply?.kind !== 'result') return null
  const { supportedVersions, capabilities, serverInfo, _meta } = reply.result
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MCP_CURRENT)) return null
  if (!isJsonObject(capabilities)) return null
  const meta = isJsonObject(_meta) ? _meta['io.modelcontextprotocol/serverInfo'] : null
  const info = [serverInfo, meta].find((each) => isJsonObject(each))
  return toInfo(isJsonObject(info) ? info : {}, capabilities, MCP_CURRENT)
}

/** The server is of the current era but refused this request: `initialize` would not help. */
export function isCurrentEraError(reply: RpcReply | null): boolean {
  if (reply?.kind !== 'error' || !CURRENT_ERRORS.has(reply.code)) return false
  if (reply.code !== UNSUPPORTED_VERSION) return true
  // It may also name former revisions: those are reached by `initialize`.
  const supported = isJsonObject(reply.data) ? reply.data.supported : undefined
  return !(Array.isArray(supported) && supported.some((each) => String(each) <= MCP_FORMER))
}

function toInfo(
  info: Record<string, unknown>,
  capabilities: Record<string, unknown>,
  protocol: string,
) {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  const hasTools = isJsonObject(capabilities.tools)
  return { name: text(info.name), version: text(info.version), protocol, hasTools }
}

/** Reads each character once. @returns a function from a chunk to the events it completed */
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
