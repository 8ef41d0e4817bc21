import { Agent, type Dispatcher, request } from 'undici'
import { MAX_TERMS_BYTES } from '../../src/domain/doors/paid-call.ts'
import type { ProbeAnswer, ProbeReply } from '../../src/domain/probe/finding.ts'
import type { Config } from '../ports/config.ts'
import { decodeBody, type ReadBody } from './decode-body.ts'
import { toFailure } from './failure.ts'
import { countVerdict, createGuardedConnector, type GuardOptions, toGuard } from './guard.ts'
import { createOwnName } from './own-address.ts'
import { type HttpLimits, PURPOSES, type Purpose } from './purposes.ts'
import type { Resolver } from './resolver.ts'

/**
 * The one HTTP client of this process. Its purpose decides all limits.
 *
 * Security model: the address that was judged is the address that is dialled, each connection anew
 * (`guard.ts`). Nothing is sent twice, no cookie is kept, and a redirect is followed only where the
 * purpose has redirects and the caller allows the very address. Bytes are counted before and after
 * decompression, and one deadline of our own covers everything, since a dripping answer would
 * restart those of the library.
 *
 * Known limitations: addresses that an operator configured are not judged. Bodies are read whole, so
 * an answer takes up to `bodyBytes` and `decodedBytes` of memory. TLS is checked against the
 * certificates of Node.
 */
export interface HttpClient extends Fetcher, AsyncDisposable {
  close(): Promise<void>
}

export interface Fetcher {
  /** One request, one answer, nothing sent twice. Never rejects. */
  fetch(request: HttpRequest): Promise<ProbeReply>
}

export interface HttpRequest {
  method: string
  url: string
  headers?: Record<string, string>
  body?: string
  /** Called with each piece of the body's text. True ends the reading; the rest is not awaited. */
  isEnough?: (piece: string) => boolean
  /** Ends the request early, even a stream that has gone silent. */
  signal?: AbortSignal
  /** Whether a redirect may be followed; without it none is, and the redirect is the answer. */
  mayFollow?: (next: URL) => boolean
}

export interface HttpClientParts {
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
  /** Overrides the purpose's, for tests that wait for them. */
  limits?: HttpLimits | undefined
}

type GuardedPurpose = Exclude<Purpose, OperatorPurpose>
type OperatorPurpose = 'source' | 'node'

/** A client for addresses that a stranger or a listing named. */
export function createHttpClient(purpose: GuardedPurpose, parts: HttpClientParts): HttpClient {
  const { config, limits = PURPOSES[purpose].limits } = parts
  const ownName = PURPOSES[purpose].named === 'stranger' ? createOwnName(parts) : null
  const isOwnAddress: GuardOptions['isOwnAddress'] = (address, port) =>
    parts.isOwnAddress?.(address, port) === true || ownName?.isOwn(address, port) === true
  const guard = toGuard(purpose, { ...parts, isOwnAddress })
  const connect = createGuardedConnector({ ...guard, connectTimeoutMs: limits.connectMs })
  // One connection serves one request: what a seller writes after its answer reaches nobody.
  const agentOptions = { connect, pipelining: 0 }
  const client = createClient(purpose, config.BASE_URL, limits, agentOptions)
  if (ownName === null) return client
  return {
    ...client,
    fetch: async (asked) => {
      await ownName.refresh()
      return client.fetch(asked)
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
    fetch: (asked) => {
      countVerdict(purpose, 'by_operator')
      return client.fetch(asked)
    },
  }
}

function createClient(
  purpose: Purpose,
  baseUrl: string,
  limits: HttpLimits,
  agentOptions: Agent.Options,
): HttpClient {
  const agent = new Agent({
    ...agentOptions,
    allowH2: false,
    maxHeaderSize: limits.headerBytes,
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  // Not close(): a seller that drips bytes would hold it open.
  const close = () => agent.destroy()
  const { userAgent, redirects } = PURPOSES[purpose]
  const sender = { agent, limits, redirects, userAgent: userAgent.replace('{base_url}', baseUrl) }
  return {
    fetch: (asked) => follow(asked, sender),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Sender {
  agent: Dispatcher
  limits: HttpLimits
  redirects: number
  userAgent: string
}

/** Follows the redirects that the caller allows, all within the time of one answer. */
async function follow(asked: HttpRequest, sender: Sender): Promise<ProbeReply> {
  const deadline = AbortSignal.timeout(sender.limits.answerMs)
  let { url } = asked
  for (let hop = 0; ; hop += 1) {
    const reply = await send({ ...asked, url }, sender, deadline)
    const next = hop < sender.redirects ? toNext(reply, url) : null
    if (next === null || asked.mayFollow?.(next) !== true) return reply
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
  { agent, limits, userAgent }: Sender,
  deadline: AbortSignal,
): Promise<ProbeReply> {
  const started = performance.now()
  try {
    const answer = await request(url, {
      // Foreign text from a listing, checked when it was read; undici refuses the rest.
      method: method as Dispatcher.HttpMethod,
      dispatcher: agent,
      signal: signal === undefined ? deadline : AbortSignal.any([deadline, signal]),
      headers: {
        accept: 'application/json',
        // Compressed answers could be small on the wire and huge in memory.
        'accept-encoding': 'identity',
        'user-agent': userAgent,
        ...headers,
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

/** Reads until the end, a limit, the deadline or enough; then releases the connection. */
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
