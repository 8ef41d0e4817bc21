import { AsyncLocalStorage } from 'node:async_hooks'
import {
  createMcpHandler,
  hostHeaderValidationResponse,
  originValidationResponse,
} from '@modelcontextprotocol/server'
import { type H3Event, HTTPResponse } from 'h3'
import * as v from 'valibot'
import type { Switches } from '../../../src/domain/derived/switches.ts'
import type { Relay } from '../../call/relay.ts'
import { createBatches } from '../../server/batches.ts'
import { createDirectory, type DirectoryParts } from '../entry/directory.ts'
import type { DoorBodies, DoorLimits } from '../entry/door-limits.ts'
import { type DoorBody, readDoorBody } from '../entry/read-door-body.ts'
import { type Caller, type CallRequest, callThroughRelay } from '../entry/relayed-call.ts'
import { createCallTool, MAX_ANSWER_BYTES } from './call-tool.ts'
import { createReadingTools } from './listing-tools.ts'
import { createMcpServer } from './mcp-server.ts'
import { createToolCalls } from './tool-calls.ts'

/** Bytes of one message: a call's body goes through here too. */
const MAX_MESSAGE_BYTES = 1024 * 1024
/** Messages of one batch, which revisions before 2025-06-18 allow. */
const MAX_BATCH = 20
const VERSION = '0.1.0'

/**
 * `/mcp`: streamable HTTP without sessions. The official package speaks the current revision and
 * the former ones; ours are the tools, who is answered, and how often.
 */
export function createMcpDoor(parts: DirectoryParts & DoorLimits & DoorBodies, relay: Relay) {
  // The package makes a server for each request and doesn't say for which caller.
  const callers = new AsyncLocalStorage<Pick<DoorBody, 'holdUntil'> & Pick<H3Event, 'req'>>()
  const directory = createDirectory(parts, 'mcp')
  const call = (request: CallRequest) => {
    const caller = callers.getStore()
    const who = caller === undefined ? {} : toCaller(caller.req)
    const answer = callThroughRelay(relay, who, request, MAX_ANSWER_BYTES)
    // Its output is part of the body, even if nobody listens any more.
    caller?.holdUntil(answer)
    return answer
  }
  const allTools = [...createReadingTools(directory), createCallTool(directory, call)]
  const describeServer = () => {
    const { short_name, name } = parts.release().site
    return { name: short_name.toLowerCase(), title: name, version: VERSION }
  }
  const offer = (switches: Switches) => {
    const tools = allTools.map((make) => make(switches))
    return { switches, tools, answerToolCall: createToolCalls(tools, describeServer) }
  }
  let offered = offer(parts.release().site.switches)
  // Its texts change with a release that has other switches.
  const toOffered = () => {
    const { switches } = parts.release().site
    if (switches !== offered.switches) offered = offer(switches)
    return offered
  }
  const makeServer = () => createMcpServer({ directory, ...toOffered(), info: describeServer() })
  const handler = createMcpHandler(makeServer, { maxRequestBodySize: MAX_MESSAGE_BYTES })
  const turnEnds = createBatches()
  const { BASE_URL, HOST } = parts.config
  const own = new URL(BASE_URL).hostname
  const hosts = isLoopback(HOST) ? [own, 'localhost', '127.0.0.1', '[::1]'] : [own]
  return async function mcpDoor({ req }: H3Event): Promise<Response | HTTPResponse> {
    const foreign =
      originValidationResponse(req, hosts) ??
      // An attacker's host name may resolve to this machine. Behind a proxy any name may be right.
      (isLoopback(HOST) ? hostHeaderValidationResponse(req, hosts) : undefined)
    if (foreign !== undefined) return foreign
    if (req.method !== 'POST') return handler.fetch(req)
    const body = await readDoorBody(parts, req, MAX_MESSAGE_BYTES)
    if ('fault' in body) return toRpcError(body.status, body.code, body.fault, body.headers)
    const { json, taken, holdUntil } = body
    if (Array.isArray(json) && json.length > MAX_BATCH)
      return toRpcError(
        400,
        -32600,
        `A batch holds at most ${MAX_BATCH} messages, got ${json.length}.`,
        taken,
      )
    // Most calls are searches: they run together, and then their answers are sent.
    await turnEnds()
    const caller = { req, holdUntil }
    const called = await callers.run(caller, () => toOffered().answerToolCall(req, json))
    if (called !== null)
      return new HTTPResponse(JSON.stringify(called), {
        headers: { 'Content-Type': 'application/json', ...taken },
      })
    const foreignCursor = findCursor(json)
    if (foreignCursor !== null) return toRpcError(200, -32602, NO_CURSOR, taken, foreignCursor.id)
    const answer = await callers.run(caller, () => handler.fetch(req, { parsedBody: json }))
    for (const [name, value] of Object.entries(taken)) answer.headers.set(name, value)
    return answer
  }
}

/** A page of another origin could otherwise read through a visitor's browser what only it can reach. */
function isLoopback(host: string): boolean {
  return ['127.0.0.1', '::1', 'localhost'].includes(host)
}

const CursorSchema = v.object({
  id: v.union([v.string(), v.number()]),
  params: v.object({ cursor: v.unknown() }),
})
const NO_CURSOR = 'params.cursor: every list here has one page, so no cursor was ever issued.'

/** The message with a cursor; the package would answer with the first page. */
function findCursor(json: unknown): v.InferOutput<typeof CursorSchema> | null {
  const messages: unknown[] = Array.isArray(json) ? json : [json]
  return messages.find((message) => v.is(CursorSchema, message)) ?? null
}

function toRpcError(
  status: number,
  code: number,
  message: string,
  headers: Record<string, string> = {},
  id: string | number | null = null,
): Response {
  return Response.json(
    { jsonrpc: '2.0', id, error: { code, message } },
    { status, headers: { 'Cache-Control': 'no-store', ...headers } },
  )
}

function toCaller(req: H3Event['req']): Caller {
  const socket = req.runtime?.node?.req.socket
  return {
    remoteAddress: req.ip,
    forwardedFor: req.headers.get('x-forwarded-for') ?? undefined,
    localAddress: socket?.localAddress,
    localPort: socket?.localPort,
    signal: req.signal,
  }
}
