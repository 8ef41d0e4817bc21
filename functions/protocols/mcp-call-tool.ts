import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { CallToolResult } from '@modelcontextprotocol/server'
import inject from 'light-my-request'
import * as v from 'valibot'
import { type FilledCall, fillCall } from '../../src/domain/kit/filled-call.ts'
import { isListingId } from '../../src/domain/listing/listing-text.ts'
import {
  MPP_CREDENTIAL_META,
  PAYMENT_META,
  readMppReceipt,
  readMppRequired,
  readPaymentRequired,
  readReceipt,
  toMppHeader,
  toPaymentHeader,
} from '../../src/domain/relay/payments.ts'
import {
  EXPECT_HEADER,
  type Expectation,
  ExpectationSchema,
  toExpectText,
} from '../../src/domain/relay/pins.ts'
import { RECEIPT_HEADER, RECEIPT_SECRET_HEADER } from '../../src/domain/relay/receipt.ts'
import { namesIn, PROXY_NAME } from '../../src/domain/relay/relayed-headers.ts'
import { parseJson, present } from '../../src/domain/wire/json.ts'
import { callPath } from '../../src/domain/wire/links.ts'
import {
  optionally as optional,
  SELLER_TEXTS,
  SellerTextsSchema,
} from '../../src/domain/wire/shapes.ts'
import { HTTP_METHODS } from '../../src/domain/wire/vocabulary.ts'
import { RELAY_LIMITS } from '../relay/call-plan.ts'
import type { Relay } from '../relay/relay.ts'
import type { Directory } from './directory.ts'
import {
  answerWith,
  createTool,
  failWith,
  listingId,
  type Meta,
  type OfferedTool,
  toolInput,
} from './mcp-tools.ts'
import type { ProtocolRequest } from './requests.ts'

type CallListing = (request: CallRequest) => Promise<CallAnswer>

/** Fields of an answer that are useful to a caller of the tool. */
const SHOWN_HEADERS = ['content-type', 'location', 'retry-after', 'link', 'www-authenticate']

const CHANGES_THINGS = {
  readOnlyHint: false,
  destructiveHint: false,
  idempotentHint: false,
  openWorldHint: true,
}

/**
 * One schema for a seller's answer and for its x402 terms: clients built on the former package check every structured
 * result, errors included, against this schema, and every client accepts either set of members.
 */
const output = v.looseObject({
  status: optional(v.number(), 'HTTP status of an answer.'),
  headers: optional(v.record(v.string(), v.string()), 'Fields of an answer that a caller needs.'),
  body: optional(v.unknown(), 'Body of an answer: JSON as a value, else text.'),
  truncated: optional(v.boolean(), 'The answer is longer than what is shown here.'),
  texts: optional(SellerTextsSchema, 'Who wrote the texts.'),
  x402Version: optional(v.number(), 'x402 version of the terms in a 402.'),
  accepts: optional(v.array(v.looseObject({})), 'What the seller accepts, from a 402.'),
  error: optional(v.unknown(), 'Why the call was not paid, from a 402.'),
})

/** `call_listing`: x402 and MPP over MCP; the client's signature is passed on unchanged. */
export function createCallTool(directory: Directory, call: CallListing): OfferedTool {
  const shapes = { input: CallToolInput, output, annotations: CHANGES_THINGS }
  return createTool('call_listing', shapes, async (input, meta) => {
    const fault = findToolHeaderFault(input.headers ?? {})
    if (fault !== null) return failWith(fault)
    const paid = readPayment(meta)
    if (typeof paid === 'string') return failWith(paid)
    if (!isListingId(input.id)) return failWith(directory.toUnknownText(input.id))
    const kit = await directory.kit(input.id)
    const filled = fillCall(kit?.operations ?? [], input, 'x402')
    if (typeof filled === 'string') return failWith(filled)
    const request = toCallRequest(input.id, filled, paid, input.expect)
    const excess = findHeaderExcess(request.headers)
    if (excess !== null) return failWith(excess)
    const answer = await call(request)
    const refusal = toOwnRefusal(answer)
    if (refusal !== null) return refusal
    const result = answer.status === 402 ? toPaymentRequired(answer) : toAnswer(answer)
    return withReceipt(result, answer)
  })
}

/** The member of `_meta` that holds a receipt's address and secret, in an MCP call. */
const RECEIPT_META_KEY = 'directory/call-receipt'

/** The directory's own receipt for a paid call: its address, and the secret that is given out once. */
function withReceipt(result: CallToolResult, { headers }: CallAnswer): CallToolResult {
  const url = headers[RECEIPT_HEADER.toLowerCase()]
  const secret = headers[RECEIPT_SECRET_HEADER.toLowerCase()]
  return url === undefined
    ? result
    : { ...result, _meta: { ...result._meta, [RECEIPT_META_KEY]: { url, secret } } }
}

/** The call's payment on either rail, as a header; a sentence if the payment is malformed or given twice. */
function readPayment(meta: Meta): PaidHeader | undefined | string {
  const { [PAYMENT_META]: payment, [MPP_CREDENTIAL_META]: credential } = meta
  if (payment !== undefined && credential !== undefined)
    return 'Pay a call once: by x402 or by MPP, not by both.'
  if (credential !== undefined)
    return (
      toMppHeader(credential) ??
      `_meta["${MPP_CREDENTIAL_META}"] is not an MPP credential: expected an object with the challenge and a payload.`
    )
  if (payment === undefined) return undefined
  return (
    toPaymentHeader(payment) ??
    `_meta["${PAYMENT_META}"] is not an x402 payment payload: expected an object with x402Version 1 or 2.`
  )
}

interface PaidHeader {
  name: string
  value: string
}

function toCallRequest(
  id: string,
  { method, endpoint, headers, body }: FilledCall,
  paid: PaidHeader | undefined,
  expect: Expectation | undefined,
): CallRequest {
  const isText = typeof body === 'string'
  const hasType = Object.keys(headers).some((name) => name.toLowerCase() === 'content-type')
  return {
    id,
    method,
    endpoint,
    headers: {
      // Answers are read as text, so they must not be compressed.
      'accept-encoding': 'identity',
      ...headers,
      ...(body !== undefined && !isText && !hasType && { 'content-type': 'application/json' }),
      ...(paid !== undefined && { [paid.name]: paid.value }),
      ...(expect !== undefined && { [EXPECT_HEADER]: toExpectText(expect) }),
    },
    body: body === undefined ? undefined : Buffer.from(isText ? body : JSON.stringify(body)),
  }
}

/** Checks limits that Node's parser enforces on a socket; here there is no socket, so nothing else would. */
function findHeaderExcess(headers: Readonly<Record<string, string>>): string | null {
  const sizes = Object.entries(headers).map(([name, value]) => name.length + value.length)
  const size = sizes.reduce((sum, each) => sum + each, 0)
  return size <= RELAY_LIMITS.headerBytes
    ? null
    : `The header fields of a call, payment included, may have at most ${RELAY_LIMITS.headerBytes} bytes; these have ${size}. Nothing was sent.`
}

const ProblemSchema = v.object({
  code: v.string(),
  detail: v.string(),
  link_out: v.optional(v.string()),
  changed: v.optional(v.array(v.looseObject({}))),
})

/** A refusal by the relay, in a sentence: a problem document would look like the seller's. */
function toOwnRefusal({ headers, body }: CallAnswer): CallToolResult | null {
  // No seller's answer can name the relay here: the relay drops such a line.
  if (!headers['proxy-status']?.includes(PROXY_NAME)) return null
  const problem = v.safeParse(ProblemSchema, parseJson(body.toString('utf8')))
  if (!problem.success) return null
  const { code, detail, link_out, changed } = problem.output
  if (changed !== undefined)
    return { ...failWith(detail), structuredContent: { status: 409, error: { code, changed } } }
  return failWith(link_out === undefined ? detail : `${detail} link_out: ${link_out}`)
}

/** MPP over MCP: members of `_meta` for terms, incoming credentials and receipts. */
const MPP_REQUIRED_META = 'org.paymentauth/payment-required'
const MPP_RECEIPT_META = 'org.paymentauth/receipt'
/** x402's receipt in the answer to a paid call. */
const RECEIPT_META = 'x402/payment-response'

/**
 * An unpaid answer, or an answer whose payment failed: the terms as an error result. x402 clients
 * read the terms in its text or structured content, MPP clients in `_meta`.
 */
function toPaymentRequired(answer: CallAnswer): CallToolResult {
  const terms = readPaymentRequired(answer.headers, answer.body.toString('utf8'))
  const mpp = readMppRequired(answer.headers)
  const meta = mpp !== null && { _meta: { [MPP_REQUIRED_META]: mpp } }
  if (terms === null) return { ...toAnswer(answer), isError: true, ...meta }
  return {
    isError: true,
    structuredContent: terms,
    content: [{ type: 'text', text: JSON.stringify(terms) }],
    ...meta,
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
  const receipts = present({
    [RECEIPT_META]: readReceipt(headers),
    [MPP_RECEIPT_META]: readMppReceipt(headers),
  })
  return {
    ...answerWith({
      status,
      headers: Object.fromEntries(shown),
      body: json === undefined ? text : json,
      ...(isCut && { truncated: true }),
      texts: SELLER_TEXTS,
    }),
    ...(status >= 400 && { isError: true }),
    ...(Object.keys(receipts).length > 0 && { _meta: receipts }),
  }
}

/** What the relay needs to know about a caller, for its limits and its guard against loops. */
type Caller = Pick<ProtocolRequest, 'ip' | 'headers' | 'signal' | 'runtime'>

export interface CallRequest {
  id: string
  method: string
  /** A path, or an https URL on the seller's host. */
  endpoint: string | undefined
  headers: Record<string, string>
  body: Buffer | undefined
}

export interface CallAnswer {
  status: number
  headers: IncomingHttpHeaders
  body: Buffer
  isCut: boolean
}

/**
 * Makes one call through the relay itself: limits, guard, counts and settlement notes are the same
 * as for a call over HTTP, but request and response never pass through a socket of ours.
 * @param maxBytes how many bytes of the answer's body are read; the rest is left unread
 */
export async function callThroughRelay(
  relay: Relay,
  caller: Caller | undefined,
  { id, method, endpoint, headers, body }: CallRequest,
  maxBytes: number,
): Promise<CallAnswer> {
  const forwarded = caller?.headers.get('x-forwarded-for') ?? null
  const query = endpoint === undefined ? '' : `?endpoint=${encodeURIComponent(endpoint)}`
  const response = await inject(
    (req, res) => {
      // The guard against loops compares the port on which this service was reached.
      const { localAddress, localPort } = caller?.runtime?.node?.req.socket ?? {}
      Object.assign(req.socket, { localAddress, localPort })
      void relay(req, res)
      // Destroying the response shows the relay that the caller left, as it would on a socket.
      const leave = () => void res.destroy()
      if (caller?.signal.aborted === true) leave()
      else caller?.signal.addEventListener('abort', leave, { once: true })
    },
    {
      method,
      url: `${callPath(encodeURIComponent(id))}${query}`,
      remoteAddress: caller?.ip ?? '',
      headers: {
        ...headers,
        ...(forwarded !== null && { 'x-forwarded-for': forwarded }),
      },
      ...(body !== undefined && { payload: body }),
      payloadAsStream: true,
    },
  )
  const { bytes, isCut } = await readAtMost(response.stream(), maxBytes)
  const fields = Object.entries(response.headers)
  const texts = fields.map(([name, value]) => [name.toLowerCase(), String(value)])
  const status = response.statusCode
  return { status, headers: Object.fromEntries(texts), body: bytes, isCut }
}

async function readAtMost(stream: Readable, max: number) {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of stream) {
    chunks.push(chunk)
    size += chunk.length
    if (size > max) break
  }
  // Leaving the loop early destroyed the stream, so to the relay it looks as if the caller left.
  return { bytes: Buffer.concat(chunks).subarray(0, max), isCut: size > max }
}

const { digest, payee, max_usd } = ExpectationSchema.entries

const CallToolInput = toolInput({
  id: listingId,
  expect: optional(
    v.strictObject({
      digest: optional(digest.wrapped, 'The digest in kit.json.'),
      payee: optional(payee.wrapped, 'CAIP-10; one must be paid.'),
      max_usd: optional(max_usd.wrapped, 'US dollars.'),
    }),
    'Refuses the call, unpaid, if any of these changed.',
  ),
  method: optional(v.picklist(HTTP_METHODS), "Default: the operation's."),
  endpoint: optional(
    v.pipe(v.string(), v.maxLength(4096)),
    "A path with its query, or a URL on the service's host; default: the likeliest operation with its example.",
  ),
  query: optional(
    v.union([v.string(), v.record(v.string(), v.union([v.string(), v.number(), v.boolean()]))]),
    'Added to the endpoint, replacing parameters of these names.',
  ),
  headers: optional(v.record(v.string(), v.string()), 'Such as an API key.'),
  body: optional(
    v.union([v.string(), v.record(v.string(), v.unknown()), v.array(v.unknown())]),
    "Text is sent unchanged, anything else as JSON; default: the operation's example.",
  ),
})

/**
 * Fields that the relay sets itself, because it knows the caller and the length, and fields that
 * concern a single hop (RFC 9110 §7.6.1).
 */
const NOT_THE_CALLERS = new Set(
  namesIn(`
    connection content-length expect forwarded host keep-alive te trailer transfer-encoding
    upgrade x-forwarded-for x-forwarded-host x-forwarded-proto x-real-ip
  `),
)

const NAME = /^[\w!#$%&'*+.^`|~-]{1,200}$/

/** Visible characters, spaces, tabs and Latin-1, as HTTP allows. */
const VALUE = /^[\t\x20-\x7e\x80-\xff]*$/

/**
 * The error in the header fields that an agent gives for a seller; null if they are fine.
 * @example findToolHeaderFault({ 'x-key': 'a\r\nb' }) → 'headers.x-key: …'
 */
export function findToolHeaderFault(headers: Readonly<Record<string, string>>): string | null {
  for (const [name, value] of Object.entries(headers)) {
    if (!NAME.test(name))
      return `headers: ${JSON.stringify(name)} is not the name of a header field.`
    if (NOT_THE_CALLERS.has(name.toLowerCase()))
      return `headers.${name}: the relay sets this itself; leave it out.`
    if (!VALUE.test(value))
      return `headers.${name}: expected one line of text without control characters.`
  }
  return null
}
