import { randomUUID } from 'node:crypto'
import { AgentCard, Message, type Part, type SendMessageRequest } from '@a2a-js/sdk'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { ContentTypeNotSupportedError } from '@a2a-js/sdk/errors'
import {
  AgentEvent,
  type AgentExecutor,
  DefaultRequestHandler,
  JsonRpcTransportHandler,
  ServerCallContext,
  type TaskStore,
  validateVersion,
} from '@a2a-js/sdk/server'
import type { H3Event } from 'h3'
import * as v from 'valibot'
import { toUsd } from '../../src/domain/listing/pricing.ts'
import { toAgentCard } from '../../src/domain/protocols/cards.ts'
import { MAX_QUERY_CHARACTERS } from '../../src/domain/search/search-parameters.ts'
import type { CompactRow, OperationsAnswer } from '../../src/domain/search/search-response.ts'
import { SELLER_TEXTS } from '../../src/domain/wire/shapes.ts'
import { publicJson } from '../http/answers.ts'
import {
  createDirectory,
  type Directory,
  type DirectoryParts,
  type SearchQueryText,
} from './directory.ts'
import { type BodyBudgets, type ProtocolLimits, readProtocolBody } from './requests.ts'

/** Every answer is a message, so no tasks are stored or found. */
const NO_TASKS: TaskStore = {
  save: async () => {},
  load: async () => undefined,
  list: async ({ pageSize = 0 }) => ({ tasks: [], nextPageToken: '', pageSize, totalSize: 0 }),
}

const MAX_MESSAGE_BYTES = 64 * 1024

const RequestSchema = v.looseObject({ id: v.optional(v.unknown()) })
const IdSchema = v.union([v.string(), v.number()])

/** `POST /a2a`: JSON-RPC of A2A 1.0, and of 0.3 if no `A2A-Version` is sent. */
export function createA2aEndpoint(parts: DirectoryParts & ProtocolLimits & BodyBudgets) {
  const card = AgentCard.fromJSON(toAgentCard(parts.config.BASE_URL, parts.release().site))
  const requests = new TextsAndData(
    card,
    NO_TASKS,
    createSearchExecutor(createDirectory(parts, 'a2a')),
  )
  const handlers = {
    '1.0': new JsonRpcTransportHandler(requests),
    '0.3': new LegacyJsonRpcTransportHandler(requests),
  }
  return async function a2aEndpoint({ req }: H3Event): Promise<Response> {
    if (req.method !== 'POST')
      return publicJson(toError(-32600, 'Send JSON-RPC requests by POST.'), ALLOWED, 405)
    const body = await readProtocolBody(parts, req, MAX_MESSAGE_BYTES)
    if ('fault' in body)
      return publicJson(toError(body.code, body.fault), body.headers, body.status)
    const { json, taken } = body
    const parsed = v.safeParse(RequestSchema, json)
    if (!parsed.success) {
      const expected = 'Expected one JSON-RPC request, as an object.'
      return publicJson(toError(-32600, expected), taken)
    }
    return publicJson(await handle(parsed.output, req.headers.get('a2a-version') ?? ''), taken)
  }

  async function handle(request: Record<string, unknown>, requestedVersion: string) {
    const version = requestedVersion || '0.3'
    const isFormer = version === '0.3'
    try {
      validateVersion(version, card, 'JSONRPC')
      const context = new ServerCallContext({ requestedVersion: version })
      const answer = await handlers[isFormer ? '0.3' : '1.0'].handle(request, context)
      if (!(Symbol.asyncIterator in answer)) return answer
      // Streaming is not offered: the stream's first item is the refusal.
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

const ALLOWED = { Allow: 'POST, OPTIONS' }

function toError(code: number, message: string) {
  return { jsonrpc: '2.0', id: null, error: { code, message } }
}

/** Number of results when a message does not say how many it wants. */
const RESULTS = 5

const DataSchema = v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]))

/** A message is a search: its text is the query, its data parts are filters. No task is ever created. */
function createSearchExecutor(directory: Directory): AgentExecutor {
  return {
    async execute({ userMessage, contextId }, bus) {
      bus.publish(AgentEvent.message(toMessage(answer(directory, userMessage), contextId)))
      bus.finished()
    },
    async cancelTask() {
      // There is never a task to cancel: the handler refuses before this is called.
    },
  }
}

/** Refuses files before the executor begins, because the package only logs an executor's errors. */
class TextsAndData extends DefaultRequestHandler {
  override async sendMessage(params: SendMessageRequest, context: ServerCallContext) {
    if (params.message?.parts.some(isFile) === true)
      throw new ContentTypeNotSupportedError(EXPECTED_PARTS)
    return super.sendMessage(params, context)
  }
}

const EXPECTED_PARTS = 'Send the task as a text part, or search parameters as a data part.'

function isFile({ content }: Part): boolean {
  return content?.$case === 'raw' || content?.$case === 'url'
}

/** A data part `{"find": "operations"}` requests operations instead of listings. */
function answer(directory: Directory, { parts }: Message): Answer {
  const requested = readQuery(parts)
  if (typeof requested === 'string') return { error: requested }
  const { find, ...parameters } = requested
  const found =
    find === 'operations'
      ? directory.findOperations(parameters)
      : directory.search({ limit: RESULTS, ...parameters })
  if ('problems' in found)
    return { error: 'These parameters cannot be used.', errors: [...found.problems] }
  if (!('rows' in found)) return { ...found }
  const { rows: results, ...rest } = found
  return { ...rest, results, texts: SELLER_TEXTS }
}

/** @returns the parameters of a search, or a sentence about what cannot be understood */
function readQuery(parts: readonly Part[]): SearchQueryText | string {
  const text = parts
    .flatMap(({ content }) => (content?.$case === 'text' ? [content.value] : []))
    .join(' ')
    .trim()
  const data = parts.flatMap(({ content }) => (content?.$case === 'data' ? [content.value] : []))
  const filters: SearchQueryText = {}
  for (const part of data) {
    const parsed = v.safeParse(DataSchema, part)
    if (!parsed.success)
      return 'A data part contains search parameters by name: text, numbers and booleans.'
    Object.assign(filters, parsed.output)
  }
  if (text === '' && data.length === 0) return EXPECTED_PARTS
  return { ...(text !== '' && { q: text.slice(0, MAX_QUERY_CHARACTERS) }), ...filters }
}

/** Contains the answer twice: people see a message's text, programs read its data. */
function toMessage(data: Answer, contextId: string): Message {
  const parts = [{ data, mediaType: 'application/json' }, { text: toAnswerText(data) }]
  return Message.fromJSON({ messageId: randomUUID(), contextId, role: 'ROLE_AGENT', parts })
}

/**
 * The answer in sentences, one line per result, for agents and people who only read text; the data
 * part contains the whole answer.
 */
function toAnswerText(answer: Answer): string {
  if ('error' in answer) {
    const faults = answer.errors?.map(({ name, detail }) => `${name}: ${detail}`) ?? []
    return [answer.error, ...faults].join('\n')
  }
  const { total, results, notes, texts } = answer
  if (results.length === 0) return ['Nothing was found.', ...notes].join('\n')
  const rows = results.map((row) => ('listing' in row ? toOperationLine(row) : toListingLine(row)))
  return [`${results.length} of ${total}:`, ...rows, ...notes, texts].join('\n')
}

function toListingLine({ id, name, summary, price }: CompactRow): string {
  return `- ${name} (${id}): ${summary}${toPrice(price?.min_usd)}`
}

function toOperationLine({ listing, operation }: OperationsAnswer['results'][number]): string {
  const { method, name, url, description, price } = operation
  const seller = listing.name === undefined ? listing.id : `${listing.name} (${listing.id})`
  const called = method === undefined ? name : `${method} ${url}`
  const stated = description === undefined ? '' : `: ${description}`
  return `- ${called ?? url ?? ''} of ${seller}${stated}${toPrice(price?.min_usd)}`
}

function toPrice(usd: number | undefined): string {
  if (usd === undefined) return ''
  return usd === 0 ? ' Free.' : ` From ${toUsd(usd)}.`
}

/** The answer to a message: listings, operations, or an error. */
type Answer =
  | ({ results: CompactRow[] } & Counted)
  | OperationsAnswer
  | { error: string; errors?: readonly { name: string; detail: string }[] }

interface Counted {
  total: number
  notes: string[]
  texts: string
}
