import { AgentCard } from '@a2a-js/sdk'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import {
  DefaultRequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  type TaskStore,
  validateVersion,
} from '@a2a-js/sdk/server'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { toAgentCard } from '../../../src/domain/doors/cards/agent-card.ts'
import { createDirectory, type DirectoryParts } from '../entry/directory.ts'
import type { DoorBodies, DoorLimits } from '../entry/door-limits.ts'
import { readDoorBody } from '../entry/read-door-body.ts'
import { createSearchExecutor } from './message-executor.ts'

/** Every answer is a message, so there are no tasks: none is kept, none is ever found. */
const NO_TASKS: TaskStore = {
  save: async () => {},
  load: async () => undefined,
  list: async ({ pageSize = 0 }) => ({ tasks: [], nextPageToken: '', pageSize, totalSize: 0 }),
}

const MAX_MESSAGE_BYTES = 64 * 1024

const RequestSchema = v.looseObject({ id: v.optional(v.unknown()) })
const IdSchema = v.union([v.string(), v.number()])

/** `POST /a2a`: JSON-RPC of A2A 1.0, and of 0.3 where no `A2A-Version` is sent. */
export function createA2aDoor(parts: DirectoryParts & DoorLimits & DoorBodies) {
  const card = AgentCard.fromJSON(toAgentCard(parts.config.BASE_URL, parts.release().site))
  const requests = new DefaultRequestHandler(
    card,
    NO_TASKS,
    createSearchExecutor(createDirectory(parts, 'a2a')),
  )
  const handlers = {
    '1.0': new JsonRpcTransportHandler(requests),
    '0.3': new LegacyJsonRpcTransportHandler(requests),
  }
  return async function a2aDoor({ req }: H3Event): Promise<Response> {
    if (req.method === 'OPTIONS') return new Response(null, { status: 204, headers: PREFLIGHT })
    if (req.method !== 'POST')
      return toAnswer(405, toError(null, -32600, 'Send JSON-RPC requests by POST.'), {
        Allow: 'POST, OPTIONS',
      })
    const body = await readDoorBody(parts, req, MAX_MESSAGE_BYTES)
    if ('fault' in body)
      return toAnswer(body.status, toError(null, body.code, body.fault), body.headers)
    const { json, taken } = body
    const parsed = v.safeParse(RequestSchema, json)
    if (!parsed.success) {
      const expected = 'Expected one JSON-RPC request, as an object.'
      return toAnswer(200, toError(null, -32600, expected), taken)
    }
    return toAnswer(200, await handle(parsed.output, req.headers.get('a2a-version') ?? ''), taken)
  }

  async function handle(request: Record<string, unknown>, requestedVersion: string) {
    const isFormer = requestedVersion === '' || requestedVersion === '0.3'
    try {
      validateVersion(isFormer ? '0.3' : requestedVersion, card, 'JSONRPC')
      const context = new ServerCallContext({
        requestedVersion: isFormer ? '0.3' : requestedVersion,
      })
      const answer = await handlers[isFormer ? '0.3' : '1.0'].handle(request, context)
      if (!(Symbol.asyncIterator in answer)) return answer
      // Streaming is not offered: the first step of the stream is the refusal.
      return (await answer.next()).value
    } catch (error) {
      const id = v.is(IdSchema, request.id) ? request.id : null
      const mapped = isFormer
        ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(error)
        : JsonRpcTransportHandler.mapToJSONRPCError(error)
      return { jsonrpc: '2.0', id, error: mapped }
    }
  }
}

const PREFLIGHT = {
  Allow: 'POST, OPTIONS',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Allow-Methods': 'POST, OPTIONS',
  'Access-Control-Allow-Headers': '*',
  'Access-Control-Max-Age': '86400',
}

function toError(id: string | number | null, code: number, message: string) {
  return { jsonrpc: '2.0', id, error: { code, message } }
}

function toAnswer(status: number, body: unknown, headers: Record<string, string> = {}): Response {
  return Response.json(body, {
    status,
    headers: {
      'Cache-Control': 'no-store',
      'Access-Control-Allow-Origin': '*',
      'X-Content-Type-Options': 'nosniff',
      ...headers,
    },
  })
}
