import { isObject } from './bounded-json.ts'
import type { RpcReply } from './json-rpc.ts'

/** The current revision: every request describes itself, there is no handshake and no session. */
export const MCP_CURRENT = '2026-07-28'

/** The last revision with an `initialize` handshake. */
export const MCP_FORMER = '2025-11-25'

/** Error of a server of the current era that speaks other revisions than the one asked. */
const UNSUPPORTED_VERSION = -32_022

/** Errors that only a server of the current era gives: bad headers, missing capability, version. */
const CURRENT_ERRORS = new Set([-32_020, -32_021, UNSUPPORTED_VERSION])

const CLIENT = { name: 'directory-probe', version: '1' }

/** One message: the body to POST and the headers that mirror it. */
export interface McpMessage {
  id: number | null
  headers: Record<string, string>
  body: string
}

/** A request of the current revision. */
export function toCurrentRequest(
  id: number,
  method: 'server/discover' | 'tools/list',
  params: Record<string, unknown> = {},
): McpMessage {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': MCP_CURRENT,
    'io.modelcontextprotocol/clientInfo': CLIENT,
    'io.modelcontextprotocol/clientCapabilities': {},
  }
  return {
    id,
    headers: { 'mcp-protocol-version': MCP_CURRENT, 'mcp-method': method },
    body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }),
  }
}

/** `initialize` of the former revisions; the server chooses which of them it speaks. */
export function toInitialize(id: number): McpMessage {
  const params = { protocolVersion: MCP_FORMER, capabilities: {}, clientInfo: CLIENT }
  return {
    id,
    headers: {},
    body: JSON.stringify({ jsonrpc: '2.0', id, method: 'initialize', params }),
  }
}

/** A session of a former revision, as `initialize` opened it. */
export interface McpSession {
  version: string
  /** Value of `Mcp-Session-Id`, where the server keeps sessions. */
  id: string | null
}

export function toSessionHeaders({ version, id }: McpSession): Record<string, string> {
  return { 'mcp-protocol-version': version, ...(id !== null && { 'mcp-session-id': id }) }
}

export function toInitialized(session: McpSession): McpMessage {
  const body = JSON.stringify({ jsonrpc: '2.0', method: 'notifications/initialized' })
  return { id: null, headers: toSessionHeaders(session), body }
}

export function toFormerToolsList(
  id: number,
  session: McpSession,
  params: Record<string, unknown>,
): McpMessage {
  const body = JSON.stringify({ jsonrpc: '2.0', id, method: 'tools/list', params })
  return { id, headers: toSessionHeaders(session), body }
}

/** What `server/discover` or `initialize` told. */
export interface McpServerInfo {
  name: string
  version: string
  protocol: string
  hasTools: boolean
}

const REVISION = /^\d{4}-\d{2}-\d{2}$/

/** @returns null where the result is not one of `initialize`. */
export function readInitialized(result: Record<string, unknown>): McpServerInfo | null {
  const { protocolVersion, serverInfo } = result
  if (typeof protocolVersion !== 'string' || !REVISION.test(protocolVersion)) return null
  if (!isObject(serverInfo) || !isObject(result.capabilities)) return null
  return toInfo(serverInfo, result.capabilities, protocolVersion)
}

/** @returns null where the result is not one of `server/discover`, or not of our revision. */
export function readDiscovered(result: Record<string, unknown>): McpServerInfo | null {
  const { supportedVersions } = result
  if (!Array.isArray(supportedVersions) || !supportedVersions.includes(MCP_CURRENT)) return null
  if (!isObject(result.capabilities)) return null
  const meta = isObject(result._meta) ? result._meta['io.modelcontextprotocol/serverInfo'] : null
  const info = [result.serverInfo, meta].find((each) => isObject(each))
  return toInfo(isObject(info) ? info : {}, result.capabilities, MCP_CURRENT)
}

/** The server is of the current era but refused this request: `initialize` would not help. */
export function isCurrentEraError(reply: RpcReply | null): boolean {
  if (reply?.kind !== 'error' || !CURRENT_ERRORS.has(reply.code)) return false
  if (reply.code !== UNSUPPORTED_VERSION) return true
  // It may name former revisions beside its own: those are reached by `initialize`.
  const supported = isObject(reply.data) ? reply.data.supported : undefined
  return !(Array.isArray(supported) && supported.some((each) => String(each) <= MCP_FORMER))
}

function toInfo(
  info: Record<string, unknown>,
  capabilities: Record<string, unknown>,
  protocol: string,
): McpServerInfo {
  const text = (value: unknown) => (typeof value === 'string' ? value : '')
  return {
    name: text(info.name),
    version: text(info.version),
    protocol,
    hasTools: isObject(capabilities.tools),
  }
}
