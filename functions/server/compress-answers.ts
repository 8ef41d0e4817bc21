import type { IncomingMessage, ServerResponse } from 'node:http'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'

/**
 * Compresses each dynamic answer as a whole: JSON of a function, and a page rendered on demand.
 *
 * Security model: compressing a secret together with text that an attacker chooses reveals it to
 * anybody who sees the size of the answer (BREACH, https://breachattack.com). Answers that hold
 * something only their reader may know are not compressed: those of seller paths and of rows with
 * `isSecret`, for which the server does not call this, and all that set a cookie. The relay bypasses
 * this entirely: its bytes are the seller's.
 *
 * Known limitations: the work is done on the thread that serves, so an answer above `MAX_BYTES` is sent
 * uncompressed.
 */

/** A shorter answer fits into the first packet with its headers. */
const MIN_BYTES = 1024
const MAX_BYTES = 1024 * 1024
const COMPRESSIBLE = /^(?:text\/(?!event-stream)|application\/(?:[\w.+-]*\+)?(?:json|xml|yaml)\b)/
/**
 * Brotli at 1 takes three quarters of the time of gzip at 1 for a search answer, which becomes 5 %
 * longer; at 2 it takes longer than gzip and saves nothing. A window of 64 KiB is enough for them
 * (`npm run bench:search` prints bytes and CPU time).
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

/** From here on the response buffers what is written to it, and sends it compressed at the end. */
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
  // The bytes differ between codings, their meaning does not (RFC 9110 §8.8.1).
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

/** What Node would write immediately: headers are an object, or alternating names and values. */
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

/** Node joins this header's lines itself; its type says otherwise. */
function toText(header: string | string[] | undefined): string | undefined {
  return Array.isArray(header) ? header.join() : header
}

/**
 * True when an `Accept-Encoding` header takes this coding (RFC 9110 §12.5.3): named or `*`, and
 * not with a weight of zero.
 *
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
