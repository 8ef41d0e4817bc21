import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { Agent, type Dispatcher, request } from 'undici'
import type { ProbeAnswer, ProbeFailure, ProbeReply } from '../../src/domain/probe/finding.ts'
import { MAX_TERMS_BYTES } from '../../src/domain/relay/payments.ts'
import { codeOf } from '../../src/domain/wire/problems.ts'
import type { Config } from '../ports/config.ts'
import {
  AddressRefusedError,
  countVerdict,
  createGuardedConnector,
  createOwnName,
  type GuardOptions,
  type HttpLimits,
  OwnAddressError,
  PURPOSES,
  type Purpose,
  toGuard,
} from './guard.ts'
import type { Resolver } from './resolver.ts'

/**
 * The one HTTP client of this process. The purpose of a request decides all its limits.
 *
 * Security model: each connection dials the address that was judged (`guard.ts`). Nothing is sent
 * twice, no cookie is kept, and a redirect is followed only where the purpose has redirects and the
 * caller allows the address. Bytes are counted before and after decompression. One deadline of our
 * own covers everything, because a dripping answer would restart the library's timeouts.
 *
 * Known limitations: addresses that an operator configured are not judged. Bodies are read whole,
 * so an answer takes up to `bodyBytes` and `decodedBytes` of memory. TLS is checked against Node's
 * certificates.
 */
export interface HttpClient extends Fetcher, AsyncDisposable {
  close(): Promise<void>
}

export interface Fetcher {
  /** Sends a request once, and returns its answer. Never rejects. */
  fetch(request: HttpRequest): Promise<ProbeReply>
}

interface HttpRequest {
  method: string
  url: string
  headers?: Record<string, string>
  body?: string
  /** Called with each piece of the body's text; once it returns true, reading ends and the rest is not awaited. */
  isEnough?: (piece: string) => boolean
  /** Ends the request early, even a stream that has gone silent. */
  signal?: AbortSignal
  /** Whether a redirect may be followed. Without this function the redirect itself is the answer. */
  mayFollow?: (next: URL) => boolean
}

interface HttpClientParts {
  config: Pick<
    Config,
    | 'BASE_URL'
    | 'HOST'
    | 'PORT'
    | 'TRUST_PROXY'
    | 'PRIVATE_TARGETS'
    | 'UNSAFE_ALLOW_PRIVATE_TARGETS'
  >
  resolver: Resolver
  /** Refuses an address that is this service itself. */
  isOwnAddress?: GuardOptions['isOwnAddress']
  /** Signs each request, including redirected ones. */
  sign?: SignRequest | undefined
  /** Overrides the purpose's limits, for tests that wait for them. */
  limits?: HttpLimits | undefined
}

/** Headers that sign a request; empty if it is sent unsigned. Never rejects. */
export type SignRequest = (
  request: Pick<HttpRequest, 'method' | 'url' | 'headers'>,
) => Promise<Record<string, string>>

type GuardedPurpose = Exclude<Purpose, OperatorPurpose>
type OperatorPurpose = 'source' | 'node'

/** A client for addresses that a stranger or a listing named. */
export function createHttpClient(purpose: GuardedPurpose, parts: HttpClientParts): HttpClient {
  const { config, sign, limits = PURPOSES[purpose].limits } = parts
  const ownName = PURPOSES[purpose].named === 'stranger' ? createOwnName(parts) : null
  const isOwnAddress: GuardOptions['isOwnAddress'] = (address, port) =>
    parts.isOwnAddress?.(address, port) === true || ownName?.isOwn(address, port) === true
  const guard = toGuard(purpose, { ...parts, isOwnAddress })
  const connect = createGuardedConnector({ ...guard, connectTimeoutMs: limits.connectMs })
  // One connection serves one request, so any bytes that a seller sends after its answer reach nobody.
  const agentOptions = { connect, pipelining: 0 }
  const client = createClient(purpose, config.BASE_URL, limits, agentOptions, sign)
  if (ownName === null) return client
  return {
    ...client,
    fetch: async (requested) => {
      await ownName.refresh()
      return client.fetch(requested)
    },
  }
}

/** A client for addresses from settings and commands, which are dialled unchecked. */
export function createOperatorClient(
  purpose: OperatorPurpose,
  {
    baseUrl = '',
    limits = PURPOSES[purpose].limits,
  }: { baseUrl?: string; limits?: HttpLimits } = {},
): HttpClient {
  const connect = { timeout: limits.connectMs }
  const client = createClient(purpose, baseUrl, limits, { connect, pipelining: 1 })
  return {
    ...client,
    fetch: (requested) => {
      countVerdict(purpose, 'by_operator')
      return client.fetch(requested)
    },
  }
}

function createClient(
  purpose: Purpose,
  baseUrl: string,
  limits: HttpLimits,
  agentOptions: Agent.Options,
  sign: SignRequest = async () => ({}),
): HttpClient {
  const agent = new Agent({
    ...agentOptions,
    allowH2: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  // Not close(): a seller that sends its bytes slowly would keep the agent open.
  const close = () => agent.destroy()
  const { userAgent, redirects } = PURPOSES[purpose]
  const named = userAgent.replace('{base_url}', baseUrl)
  const sender = { agent, limits, redirects, userAgent: named, sign }
  return {
    fetch: (requested) => follow(requested, sender),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Sender {
  agent: Dispatcher
  limits: HttpLimits
  redirects: number
  userAgent: string
  sign: SignRequest
}

/** Follows the redirects that the caller allows, all within the time limit for one answer. */
async function follow(requested: HttpRequest, sender: Sender): Promise<ProbeReply> {
  const deadline = AbortSignal.timeout(sender.limits.answerMs)
  let { url } = requested
  for (let hop = 0; ; hop += 1) {
    const reply = await send({ ...requested, url }, sender, deadline)
    const next = hop < sender.redirects ? toNext(reply, url) : null
    if (next === null || requested.mayFollow?.(next) !== true) return reply
    url = next.href
  }
}

function toNext(reply: ProbeReply, url: string): URL | null {
  if (!reply.answered) return null
  const { status, headers } = reply.answer
  return status < 300 || status > 399 ? null : URL.parse(headers.get('location')?.[0] ?? '', url)
}

async function send(
  { method, url, headers = {}, body, isEnough, signal }: HttpRequest,
  { agent, limits, userAgent, sign }: Sender,
  deadline: AbortSignal,
): Promise<ProbeReply> {
  const signed = await sign({ method, url, headers })
  const started = performance.now()
  try {
    const answer = await request(url, {
      // A listing's method, checked when the listing was read; undici refuses a malformed method.
      method: method as Dispatcher.HttpMethod,
      dispatcher: agent,
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      headers: {
        accept: 'application/json',
        // Compressed answers could be small on the wire and huge in memory.
        'accept-encoding': 'identity',
        'user-agent': userAgent,
        ...headers,
        ...signed,
      },
      ...(body !== undefined && { body }),
    })
    const ms = performance.now() - started
    const read = await readBody(answer, limits, deadline, isEnough)
    const headerLists = toHeaderLists(answer.headers)
    return {
      answered: true,
      answer: { status: answer.statusCode, headers: headerLists, ms, ...read },
    }
  } catch (error) {
    return { answered: false, ...toFailure(error), ms: performance.now() - started }
  }
}

/** Reads until the end of the body, a limit, the deadline or `isEnough`; then releases the connection. */
async function readBody(
  { statusCode, body, headers }: Dispatcher.ResponseData,
  limits: HttpLimits,
  deadline: AbortSignal,
  isEnough: HttpRequest['isEnough'],
): Promise<ReadBody> {
  const most = statusCode === 402 ? MAX_TERMS_BYTES : Number.POSITIVE_INFINITY
  const bodyBytes = Math.min(most, limits.bodyBytes)
  const coding = String(headers['content-encoding'] ?? 'identity').toLowerCase()
  const decoder = new TextDecoder()
  const chunks: Buffer[] = []
  let size = 0
  let cut: ProbeAnswer['cut'] = null
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk)
      chunks.push(bytes.subarray(0, bodyBytes - size))
      size += bytes.length
      if (size > bodyBytes) {
        cut = 'size'
        break
      }
      if (coding === 'identity' && isEnough?.(decoder.decode(bytes, { stream: true }))) break
    }
  } catch {
    cut = deadline.aborted ? 'time' : 'broken'
  } finally {
    body.destroy()
  }
  return decodeBody(Buffer.concat(chunks), coding, cut, Math.min(most, limits.decodedBytes))
}

function toHeaderLists(headers: Dispatcher.ResponseData['headers']): ProbeAnswer['headers'] {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value : [value]] as const],
    ),
  )
}

type ReadBody = Pick<ProbeAnswer, 'body' | 'cut'>

const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

/** Also decodes bodies that sellers compressed although our request forbade it, up to a limit. */
export async function decodeBody(
  bytes: Buffer,
  coding: string,
  cut: ProbeAnswer['cut'],
  maxOutputLength: number,
): Promise<ReadBody> {
  const toText = (decoded: Buffer) => decoded.toString('utf8').replace(/^\ufeff/, '')
  if (coding === 'identity' || coding === '') return { body: toText(bytes), cut }
  const decoder = DECODERS.get(coding)
  if (decoder === undefined || cut !== null) return { body: '', cut: cut ?? 'broken' }
  try {
    return { body: toText(await decoder(bytes, { maxOutputLength })), cut }
  } catch (error) {
    return { body: '', cut: codeOf(error) === 'ERR_BUFFER_TOO_LARGE' ? 'size' : 'broken' }
  }
}

/** Error codes of Node, its resolver and undici, and what each means for the seller or for us. */
const BY_CODE: Record<string, ProbeFailure> = {
  ECONNREFUSED: 'refused',
  ECONNRESET: 'reset',
  EPIPE: 'reset',
  UND_ERR_SOCKET: 'reset',
  ETIMEDOUT: 'timeout',
  CONNECT_TIMEOUT: 'timeout',
  UND_ERR_CONNECT_TIMEOUT: 'timeout',
  EHOSTUNREACH: 'timeout',
  ENETUNREACH: 'own_network',
  ENETDOWN: 'own_network',
  EADDRNOTAVAIL: 'own_network',
  EMFILE: 'own_network',
  ENFILE: 'own_network',
  ENOBUFS: 'own_network',
  EACCES: 'own_network',
  EPERM: 'own_network',
  UND_ERR_HEADERS_OVERFLOW: 'not_http',
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: 'not_http',
}

/** Codes that mean a name server answered; any other code means that none did. */
const NO_SUCH_NAME = new Set(['ENOTFOUND', 'ENODATA'])

const OF_TLS =
  /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|EPROTO|HOSTNAME_MISMATCH|INVALID_CA|PATH_LENGTH)/

/** @returns the reason why a request had no answer, with its error code */
function toFailure(error: unknown): { failure: ProbeFailure; detail: string } {
  const first = firstOf(error)
  if (first instanceof AddressRefusedError)
    return { failure: 'address_refused', detail: first.reason }
  if (first instanceof OwnAddressError)
    return { failure: 'address_refused', detail: 'the address is this service itself' }
  const code = codeOf(first)
  if (isOfResolver(first))
    return { failure: NO_SUCH_NAME.has(code) ? 'no_such_host' : 'dns', detail: code }
  if (/^(?:TimeoutError|AbortError)$/.test(nameOf(first))) return { failure: 'timeout', detail: '' }
  const known = BY_CODE[code]
  if (known !== undefined) return { failure: known, detail: code }
  if (/^HPE_/.test(code) || nameOf(first) === 'HTTPParserError')
    return { failure: 'not_http', detail: code }
  if (OF_TLS.test(code)) return { failure: 'tls', detail: code }
  // The fault may be anybody's, so the seller is not blamed.
  return { failure: 'own_network', detail: code || 'an error without a code' }
}

function nameOf(error: unknown): string {
  return error instanceof Error ? error.name : ''
}

/** The error of the first address, if several addresses were tried. */
function firstOf(error: unknown): unknown {
  if (error instanceof AggregateError) return firstOf(error.errors[0] ?? new Error('no address'))
  const isWrapped = error instanceof Error && !('code' in error) && error.cause instanceof Error
  return isWrapped ? error.cause : error
}

/** Whether the error came from a name server: its refusal is not a refusal by the seller. */
function isOfResolver(error: unknown): boolean {
  if (!(error instanceof Error)) return false
  if ('syscall' in error && /^(?:query|getaddrinfo)/.test(String(error.syscall))) return true
  return /^(?:ENOTFOUND|ENODATA|EAI_|ESERVFAIL|EREFUSED|ENONAME)/.test(codeOf(error))
}
