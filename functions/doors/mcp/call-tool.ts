import type { CallToolResult, McpServer } from '@modelcontextprotocol/server'
import { toStandardJsonSchema } from '@valibot/to-json-schema'
import * as v from 'valibot'
import {
  PAYMENT_META,
  RECEIPT_META,
  readPaymentRequired,
  readReceipt,
  toPaymentHeader,
} from '../../../src/domain/doors/paid-call.ts'
import { findToolHeaderFault } from '../../../src/domain/doors/tool-headers.ts'
import { CallToolInput, type CallToolRequest } from '../../../src/domain/doors/tool-inputs.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { CallAnswer, CallRequest } from '../entry/relayed-call.ts'
import { TOOL_TEXTS } from './mcp-texts.ts'
import { answerWith, failWith } from './tool-answer.ts'

/** Passes one call through the relay as its caller. */
export type CallListing = (request: CallRequest) => Promise<CallAnswer>

/** Bytes of a seller's answer that go to a model; more would not fit its window anyway. */
export const MAX_ANSWER_BYTES = 256 * 1024

/** Fields of an answer that say something to a caller of the tool. */
const SHOWN_HEADERS = ['content-type', 'location', 'retry-after', 'link', 'www-authenticate']

const input = toStandardJsonSchema(CallToolInput)
const output = toStandardJsonSchema(
  v.object({
    status: v.number(),
    headers: v.record(v.string(), v.string()),
    body: v.unknown(),
    truncated: v.optional(v.boolean()),
  }),
)

/** `call_listing`: x402 over MCP, with what the client signs going on unchanged. */
export function registerCallTool(server: McpServer, call: CallListing): void {
  const config = {
    ...TOOL_TEXTS.call_listing,
    annotations: {
      readOnlyHint: false,
      destructiveHint: false,
      idempotentHint: false,
      openWorldHint: true,
    },
    inputSchema: input,
    outputSchema: output,
  }
  server.registerTool('call_listing', config, async (asked, context) => {
    const fault = findToolHeaderFault(asked.headers ?? {})
    if (fault !== null) return failWith(fault)
    const payment = context.mcpReq._meta?.[PAYMENT_META]
    const paid = payment === undefined ? undefined : toPaymentHeader(payment)
    if (paid === null)
      return failWith(
        `_meta["${PAYMENT_META}"] is no x402 payment payload: expected an object with x402Version 1 or 2.`,
      )
    const answer = await call(toCallRequest(asked, paid))
    return answer.status === 402 ? toPaymentRequired(answer) : toAnswer(answer)
  })
}

function toCallRequest(
  { id, method = 'GET', endpoint, headers = {}, body }: CallToolRequest,
  paid: { name: string; value: string } | undefined,
): CallRequest {
  const isText = typeof body === 'string'
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return {
    id,
    method,
    endpoint,
    headers: {
      // What comes back is read as text.
      'accept-encoding': 'identity',
      ...headers,
      ...(body !== undefined && !isText && !hasType && { 'content-type': 'application/json' }),
      ...(paid !== undefined && { [paid.name]: paid.value }),
    },
    body: body === undefined ? undefined : Buffer.from(isText ? body : JSON.stringify(body)),
  }
}

/** The unpaid answer, and one whose payment failed: the terms as an error result, exactly twice. */
function toPaymentRequired(answer: CallAnswer): CallToolResult {
  const terms = readPaymentRequired(answer.headers, answer.body.toString('utf8'))
  if (terms === null) return { ...toAnswer(answer), isError: true }
  return {
    isError: true,
    structuredContent: terms,
    content: [{ type: 'text', text: JSON.stringify(terms) }],
  }
}

function toAnswer(answer: CallAnswer): CallToolResult {
  const { status, headers, body, isCut } = answer
  const shown = SHOWN_HEADERS.flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value]] : []
  })
  const text = body.toString('utf8')
  const type = headers['content-type'] ?? ''
  const json = /\bjson\b/.test(String(type)) && !isCut ? parseJson(text) : undefined
  const receipt = readReceipt(headers)
  return {
    ...answerWith({
      status,
      headers: Object.fromEntries(shown),
      body: json ?? text,
      ...(isCut && { truncated: true }),
    }),
    ...(status >= 400 && { isError: true }),
    ...(receipt !== undefined && { _meta: { [RECEIPT_META]: receipt } }),
  }
}
