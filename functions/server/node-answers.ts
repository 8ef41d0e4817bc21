import { randomUUID } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { valuesOf } from '../../src/domain/relay/relayed-headers.ts'
import type { ProblemCode } from '../../src/domain/wire/problems.ts'
import type { MakeProblem } from '../http/answers.ts'
import { currentRequestId, type Log, type LogFields } from '../ports/log.ts'

/**
 * Answers on Node's own response: whole Responses, refusals of requests that nobody should accept, work done in
 * batches, and compression of answers made for a request.
 *
 * Security model: compressing a secret together with text that an attacker chooses reveals the secret to anybody who
 * sees the size of the answer (BREACH, https://breachattack.com). Answers with something that only their reader may
 * know are not compressed: those of seller paths and of path-table rows with `isSecret`, and all that set a cookie. The relay
 * bypasses compression entirely: its bytes are the seller's.
 *
 * Known limitations: compression runs on the serving thread, so an answer above `MAX_BYTES` is sent uncompressed.
 */

/** How long a caller may go on sending an unwanted body before the connection is closed. */
const LINGER_MS = 1000

/**
 * Writes a small, complete Response to a Node response, without an h3 event. If the caller is still
 * sending, the whole answer goes out first and the rest is read for a moment: closing with unread
 * bytes would reset the connection, and the caller would see the reset instead of the answer.
 */
export async function sendResponse(
  req: IncomingMessage,
  res: ServerResponse,
  response: Response,
): Promise<void> {
  if (res.headersSent || res.destroyed) return
  const body = Buffer.from(await response.arrayBuffer())
  res.statusCode = response.status
  for (const [name, value] of response.headers) res.setHeader(name, value)
  if (response.status !== 204) res.setHeader('Content-Length', body.length)
  if (req.complete) {
    res.end(body)
    return
  }
  res.setHeader('Connection', 'close')
  res.write(body)
  req.on('error', () => {})
  req.resume()
  await Promise.race([
    new Promise((resolve) => req.once('end', resolve).once('close', resolve)),
    sleep(LINGER_MS, undefined, { ref: false }),
  ])
  res.end()
}

/** Whether a browser requests a page, so that it gets an error page if the page does not exist. */
export function wantsPage(req: IncomingMessage, path: string): boolean {
  return (req.method === 'GET' || req.method === 'HEAD') && isRefusedByPage(req, path)
}

/** Whether a person reads the refusal, whatever the method; `/api/` always answers JSON. */
export function isRefusedByPage({ headers }: IncomingMessage, path: string): boolean {
  if (/^\/(?:api\/|go\/|healthz$|readyz$)/.test(path)) return false
  const accept = headers.accept ?? ''
  return accept.includes('text/html') && !accept.startsWith('application/json')
}

/** Logs a failure of ours, and makes the 500, whose text only says where to find the failure in the log. */
export type ReportFailure = (event: string, error: unknown, fields?: LogFields) => Response

export function createFailureReport({
  log,
  problem,
}: {
  log: Log
  problem: MakeProblem
}): ReportFailure {
  return function report(event, error, fields = {}) {
    const id = currentRequestId() ?? randomUUID()
    const reason = error instanceof Error ? (error.stack ?? error.message) : String(error)
    log.error(event, { id, ...fields, reason })
    return problem('internal', {
      detail: `Quote this id when you report it: ${id}.`,
      extra: { id },
    })
  }
}

/** Longest request target, in bytes. */
const MAX_TARGET_LENGTH = 8192

export interface RequestFault {
  code: ProblemCode
  detail: string
}

/**
 * Finds what is wrong with requests that Node's parser accepts but nobody should: two `Host` lines
 * (two parties would route the request differently), a Host that is not a host, targets in absolute
 * form for another host.
 * @returns null if the request is fine
 */
export function findRequestFault({
  method,
  url = '',
  rawHeaders,
  httpVersion,
}: Pick<IncomingMessage, 'method' | 'url' | 'rawHeaders' | 'httpVersion'>): RequestFault | null {
  if (url.length > MAX_TARGET_LENGTH)
    return {
      code: 'uri-too-long',
      detail: `The request target has ${url.length} characters; the limit is ${MAX_TARGET_LENGTH}.`,
    }
  const hosts = valuesOf(rawHeaders, 'host')
  const [host = ''] = hosts
  // Node decodes only chunks: content in another coding would be taken for the body itself.
  if (valuesOf(rawHeaders, 'transfer-encoding').some((coding) => !/^chunked$/i.test(coding.trim())))
    return malformed(
      'Transfer-Encoding may only be chunked; name other codings in Content-Encoding.',
    )
  if (hosts.length > 1) return malformed('The request has several Host headers; send one.')
  // Health checks of balancers still speak HTTP/1.0, which has no Host.
  if (hosts.length === 0 && httpVersion === '1.0' && url.startsWith('/')) return null
  if (!/^(?:[A-Za-z0-9._-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/.test(host))
    return malformed('The Host header must be a host name, with a port or without.')
  if (url.startsWith('/')) return null
  if (url === '*')
    return method === 'OPTIONS'
      ? null
      : malformed('The request target * is only for OPTIONS; send a path.')
  const target = URL.parse(url)
  return target !== null && target.host === host.toLowerCase()
    ? null
    : malformed('The request target has a host other than the Host header.')
}

/** A target's path and query; a target in absolute form is reduced to its path. */
export function splitTarget(url: string): { path: string; query: string } {
  const origin = url.startsWith('/') ? 0 : url.indexOf('/', url.indexOf('://') + 3)
  const target = origin === -1 ? '/' : url.slice(origin)
  const mark = target.indexOf('?')
  return mark === -1
    ? { path: target, query: '' }
    : { path: target.slice(0, mark), query: target.slice(mark + 1) }
}

function malformed(detail: string): RequestFault {
  return { code: 'malformed-request', detail }
}

/** True if a body follows the head (RFC 9112 §6.3). */
export function hasBody(req: IncomingMessage): boolean {
  return 'transfer-encoding' in req.headers || Number(req.headers['content-length'] ?? 0) > 0
}

/** How many callers a batch has at most. */
const BATCH_SIZE = 32

/**
 * Batches callers within one turn of the event loop: they continue at its end, one after another,
 * and again each time they all wait (`await null`), so the work for many is done before any is
 * answered. Sending goes deep into the operating system, which evicts a search from the processor's
 * caches: work that alternates with sending takes 1.5 times as long. A single caller is not
 * delayed.
 * @returns a promise for the end of the turn
 */
export function createBatches(): () => Promise<void> {
  let batch = Promise.resolve()
  let room = 0
  const begin = () =>
    new Promise<void>((resolve) => {
      setImmediate(() => {
        room = 0
        resolve()
      })
    })
  return () => {
    if (room === 0) {
      room = BATCH_SIZE
      batch = begin()
    }
    room -= 1
    return batch
  }
}

/** Shorter answers are not compressed: with their headers they fit into one packet. */
const MIN_BYTES = 1024
const MAX_BYTES = 1024 * 1024
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml)\b)/
/**
 * For a search answer, Brotli at level 1 takes three quarters of the time of gzip at 1, and its
 * output is 5 % longer; at level 2 it takes longer than gzip and saves nothing. A window of 64 KiB
 * is enough for search answers (`npm run bench:search` prints bytes and CPU time).
 */
const BROTLI = {
  [constants.BROTLI_PARAM_QUALITY]: 1,
  [constants.BROTLI_PARAM_LGWIN]: 16,
}
const GZIP = { level: 1 }

const CODINGS = ['br', 'gzip'] as const
type Coding = (typeof CODINGS)[number]

function compressWhole(coding: Coding, bytes: Uint8Array): Uint8Array {
  if (coding === 'gzip') return gzipSync(bytes, GZIP)
  const size = { [constants.BROTLI_PARAM_SIZE_HINT]: bytes.length }
  return brotliCompressSync(bytes, { params: { ...BROTLI, ...size } })
}

/** From this call on, the response buffers what is written to it and sends it compressed at the end. */
export function compressAnswer(req: IncomingMessage, res: ServerResponse): void {
  const accepted = toText(req.headers['accept-encoding'])
  const coding = CODINGS.find((name) => acceptsEncoding(accepted, name)) ?? null
  const node = { writeHead: res.writeHead, write: res.write, end: res.end }
  const call = (method: keyof typeof node, given: unknown[]) =>
    Reflect.apply(node[method], res, given)
  const held: Uint8Array[] = []
  let size = 0
  let isHeld: boolean | null = null
  const decide = () => {
    if (isHeld !== null) return isHeld
    isHeld = isCompressible(res)
    if (isHeld) res.appendHeader('Vary', 'Accept-Encoding')
    if (coding === null || req.method === 'HEAD') isHeld = false
    return isHeld
  }
  const giveUp = () => {
    isHeld = false
    for (const chunk of held.splice(0)) call('write', [chunk])
  }
  Object.assign(res, {
    writeHead(status: number, ...given: unknown[]) {
      takeHead(res, status, given)
      if (!decide()) call('writeHead', [status])
      return res
    },
    write(chunk: unknown, ...rest: unknown[]) {
      if (!decide()) return call('write', [chunk].concat(rest))
      const bytes = toBuffer(chunk, rest)
      held.push(bytes)
      size += bytes.length
      rest.findLast(isCallback)?.()
      if (size > MAX_BYTES) giveUp()
      return true
    },
    end(...given: unknown[]) {
      const [chunk] = given
      const isLast = chunk !== undefined && chunk !== null && !isCallback(chunk)
      if (!decide()) return call('end', given)
      if (isLast) held.push(toBuffer(chunk, given.slice(1)))
      const body = held.length === 1 && held[0] !== undefined ? held[0] : Buffer.concat(held)
      const sent = coding === null ? body : encode(res, coding, body)
      res.setHeader('Content-Length', sent.length)
      isHeld = false
      return call('end', [sent, given.findLast(isCallback)])
    },
  })
}

function encode(res: ServerResponse, coding: Coding, body: Uint8Array): Uint8Array {
  if (body.length < MIN_BYTES || body.length > MAX_BYTES) return body
  const etag = res.getHeader('ETag')
  // Another coding changes the bytes but not their meaning (RFC 9110 §8.8.1).
  if (typeof etag === 'string' && !etag.startsWith('W/')) res.setHeader('ETag', `W/${etag}`)
  res.setHeader('Content-Encoding', coding)
  return compressWhole(coding, body)
}

function isCompressible(res: ServerResponse): boolean {
  const type = res.getHeader('Content-Type')
  return (
    typeof type === 'string' &&
    COMPRESSIBLE.test(type) &&
    !res.hasHeader('Content-Encoding') &&
    !res.hasHeader('Set-Cookie') &&
    !String(res.getHeader('Cache-Control') ?? '').includes('no-transform') &&
    res.statusCode !== 204 &&
    res.statusCode !== 304
  )
}

/** Sets the status and headers as Node would write them; headers are an object, or alternating names and values. */
export function takeHead(res: ServerResponse, status: number, given: unknown[]): void {
  res.statusCode = status
  const [first] = given
  if (typeof first === 'string') res.statusMessage = first
  const headers = given.at(-1)
  if (Array.isArray(headers)) {
    for (let at = 0; at < headers.length; at += 2) res.removeHeader(String(headers[at]))
    for (let at = 0; at < headers.length; at += 2)
      res.appendHeader(String(headers[at]), String(headers[at + 1]))
  } else if (typeof headers === 'object' && headers !== null)
    for (const [name, value] of Object.entries(headers)) res.setHeader(name, value)
}

function toBuffer(chunk: unknown, [encoding]: unknown[]): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk
  const isNamed = typeof encoding === 'string' && Buffer.isEncoding(encoding)
  return Buffer.from(String(chunk), isNamed ? encoding : 'utf8')
}

function isCallback(value: unknown): value is () => void {
  return typeof value === 'function'
}

/** Node joins the lines of this header itself, although the type allows a list. */
function toText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join() : header
}

/**
 * Whether an `Accept-Encoding` header accepts this coding (RFC 9110 §12.5.3): named or `*`, and not
 * with a weight of zero.
 * @example acceptsEncoding('gzip;q=0, br', 'gzip') → false
 */
export function acceptsEncoding(header: string | undefined, coding: string): boolean {
  if (header === undefined) return false
  let star = false
  for (const part of header.toLowerCase().split(',')) {
    const [name = '', ...parameters] = part.split(';').map((piece) => piece.trim())
    if (name !== coding && name !== '*') continue
    const isRefused = parameters.some((parameter) => /^q=0(?:\.0{0,3})?$/.test(parameter))
    if (name === coding) return !isRefused
    star = !isRefused
  }
  return star
}
