import { promisify } from 'node:util'
import { brotliDecompress, gunzip, inflate } from 'node:zlib'
import { Agent, type Dispatcher, request } from 'undici'
import type { PrivateTargets } from '../../src/domain/listing/target-url.ts'
import type { ProbeAnswer, ProbeReply } from '../../src/domain/probe/read/probe-answer.ts'
import { codeOf } from '../../src/domain/wire/operator-error.ts'
import { createGuardedConnector, type GuardOptions } from '../call/guard.ts'
import type { Resolver } from '../ports/resolver.ts'
import { toFailure } from './failure.ts'

/** What one request of a probe may take. Milliseconds and bytes. */
export const ASK_LIMITS = {
  connectMs: 10_000,
  /** From the first byte to the last that is read, the connection included. */
  answerMs: 20_000,
  /** x402 version 2 puts its terms into a header, which can be long. */
  headerBytes: 128 * 1024,
  bodyBytes: 1024 * 1024,
  /** Of a compressed body, once decompressed. */
  decodedBytes: 4 * 1024 * 1024,
}
export type AskLimits = typeof ASK_LIMITS

/** Of a request whose answer is short, compressed or not. */
export function toShortLimits(connectMs: number, answerMs: number, bytes: number): AskLimits {
  const headerBytes = 16 * 1024
  return { connectMs, answerMs, headerBytes, bodyBytes: bytes, decodedBytes: bytes }
}

export interface AskRequest {
  method: string
  url: string
  headers?: Record<string, string>
  body?: string
  /** Told each piece of the body's text; true ends the reading, the rest of the stream is not awaited. */
  isEnough?: (piece: string) => boolean
  /** Ends the request early, a stream that says nothing more included. */
  signal?: AbortSignal
}

export interface Asker extends AsyncDisposable {
  /** One request, one answer, nothing followed, nothing sent twice. Never rejects. */
  ask(request: AskRequest): Promise<ProbeReply>
  close(): Promise<void>
}

export interface AskerOptions {
  config: { BASE_URL: string; PRIVATE_TARGETS: PrivateTargets }
  resolver: Resolver
  /** Who asks; a probe also names a page that says what it does and how to be left alone. */
  userAgent?: string
  /** Refuses an address that is this service itself. */
  isOwnAddress?: GuardOptions['isOwnAddress']
  limits?: AskLimits | undefined
}

/** Requests of probes: guarded as the relay's are, with bounds of their own for every answer. */
export function createAsker({
  config,
  resolver,
  userAgent = `Directory-Probe/1 (+${config.BASE_URL}/sellers/check)`,
  isOwnAddress,
  limits = ASK_LIMITS,
}: AskerOptions): Asker {
  const agent = new Agent({
    connect: createGuardedConnector({
      resolver,
      allowPrivate: config.PRIVATE_TARGETS,
      connectTimeoutMs: limits.connectMs,
      isOwnAddress,
    }),
    pipelining: 0,
    allowH2: false,
    maxHeaderSize: limits.headerBytes,
    // The deadline below counts everything; these would start anew with each piece.
    headersTimeout: 0,
    bodyTimeout: 0,
  })
  // Not close(): a seller that drips bytes would hold it open.
  const close = () => agent.destroy()
  return {
    ask: (asked) => ask(asked, agent, userAgent, limits),
    close,
    [Symbol.asyncDispose]: close,
  }
}

async function ask(
  { method, url, headers = {}, body, isEnough, signal }: AskRequest,
  dispatcher: Dispatcher,
  userAgent: string,
  limits: AskLimits,
): Promise<ProbeReply> {
  const started = performance.now()
  const deadline = AbortSignal.timeout(limits.answerMs)
  try {
    const answer = await request(url, {
      // Foreign text from a listing that was checked when it was read; undici refuses the rest.
      method: method as Dispatcher.HttpMethod,
      dispatcher,
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

type ReadBody = Pick<ProbeAnswer, 'body' | 'cut'>

/** Reads until the end, a bound, the deadline or enough; then lets the connection go. */
async function readBody(
  { body, headers }: Dispatcher.ResponseData,
  limits: AskLimits,
  deadline: AbortSignal,
  isEnough: AskRequest['isEnough'],
): Promise<ReadBody> {
  const coding = String(headers['content-encoding'] ?? 'identity').toLowerCase()
  const decoder = new TextDecoder()
  const chunks: Buffer[] = []
  let size = 0
  let cut: ProbeAnswer['cut'] = null
  try {
    for await (const chunk of body) {
      const bytes = Buffer.from(chunk)
      chunks.push(bytes.subarray(0, limits.bodyBytes - size))
      size += bytes.length
      if (size > limits.bodyBytes) {
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
  return decode(Buffer.concat(chunks), coding, cut, limits.decodedBytes)
}

const DECODERS = new Map([
  ['gzip', promisify(gunzip)],
  ['x-gzip', promisify(gunzip)],
  ['deflate', promisify(inflate)],
  ['br', promisify(brotliDecompress)],
])

/** Sellers that compress whatever was asked are read all the same, up to a bound. */
async function decode(
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

function toHeaderLists(headers: Dispatcher.ResponseData['headers']): ProbeAnswer['headers'] {
  return new Map(
    Object.entries(headers).flatMap(([name, value]) =>
      value === undefined ? [] : [[name, Array.isArray(value) ? value : [value]] as const],
    ),
  )
}
