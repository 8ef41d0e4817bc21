/** Raw pairs: names keep their case, lines stay repeated, values are latin1, a byte a character. */
export type RawHeaders = readonly string[]

/** RFC 9110 §7.6.1 and what HTTP/1.1 clients still send; about one connection, not the message. */
export const HOP_BY_HOP = namesIn(`
    connection keep-alive proxy-connection proxy-authenticate proxy-authorization
    proxy-authentication-info te trailer transfer-encoding upgrade http2-settings
`)

/** A second line of one of these could make two readers see two different payments. */
export const PAYMENT_HEADERS = ['x-payment', 'payment-signature', 'payment-authorization'] as const

/** Headers a browser may read across origins. */
export const EXPOSED_HEADERS = [
  'PAYMENT-REQUIRED',
  'PAYMENT-RESPONSE',
  'X-PAYMENT-RESPONSE',
  'WWW-Authenticate',
  'Payment-Receipt',
  'Call-Receipt',
  'Call-Receipt-Secret',
  'RateLimit',
  'RateLimit-Policy',
  'Retry-After',
  'Proxy-Status',
  'Location',
] as const

/** Our name in `Proxy-Status` (RFC 9209). */
export const PROXY_NAME = 'directory-relay'

/** @returns what is wrong with the payment headers, or null. */
export function findPaymentHeaderFault(raw: RawHeaders): string | null {
  const named = namesInConnection(raw)
  const names = paysByAuthorization(raw) ? [...PAYMENT_HEADERS, 'authorization'] : PAYMENT_HEADERS
  for (const name of names) {
    const lines = valuesOf(raw, name).length
    if (lines > 1) return `expected one ${name.toUpperCase()} line, got ${lines}`
    if (lines === 1 && named.has(name))
      return `expected ${name.toUpperCase()} not to be named in Connection: it would be dropped`
  }
  return null
}

/** True when the call claims to pay: its answer stays out of shared caches and is read fully. */
export function carriesPayment(raw: RawHeaders): boolean {
  return PAYMENT_HEADERS.some((name) => valuesOf(raw, name).length > 0) || paysByAuthorization(raw)
}

/** A request's payments, as sent, without the scheme name in `Authorization`. */
export function paymentsIn(raw: RawHeaders): string[] {
  const credentials = valuesOf(raw, 'authorization').filter((value) => /^payment\s/i.test(value))
  const payments = [...PAYMENT_HEADERS.flatMap((name) => valuesOf(raw, name)), ...credentials]
  return payments.map((value) => value.replace(/^payment\s+/i, ''))
}

function paysByAuthorization(raw: RawHeaders): boolean {
  return valuesOf(raw, 'authorization').some((value) => /^payment\s/i.test(value))
}

/** @param name in lower case. */
export function valuesOf(raw: RawHeaders, name: string): string[] {
  const values: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const given = raw[index]
    // A request is scanned a dozen times, and comparing lengths rules out most names.
    if (given?.length === name.length && given.toLowerCase() === name)
      values.push(raw[index + 1] ?? '')
  }
  return values
}

/** @param keep called with the name in lower case. */
export function filterHeaders(
  raw: RawHeaders,
  keep: (name: string, value: string) => boolean,
): string[] {
  const kept: string[] = []
  for (let index = 0; index + 1 < raw.length; index += 2) {
    const name = raw[index] ?? ''
    const value = raw[index + 1] ?? ''
    if (keep(name.toLowerCase(), value)) kept.push(name, value)
  }
  return kept
}

const NO_NAMES: ReadonlySet<string> = new Set()

/** What `Connection` names, in lower case. */
export function namesInConnection(raw: RawHeaders): ReadonlySet<string> {
  const values = valuesOf(raw, 'connection')
  if (values.length === 0) return NO_NAMES
  // A sender must not remove fields that frame or protect the message.
  const names = values.flatMap((value) => value.toLowerCase().split(',')).map((name) => name.trim())
  return new Set(names.filter((name) => name !== 'content-length' && name !== 'content-type'))
}

/** Methods whose request declares an empty body (RFC 9110 §8.6). */
const SAYS_LENGTH = new Set(['POST', 'PUT', 'PATCH'])

export interface WireRequest {
  /** Host, and port where it is not the scheme's own. */
  host: string
  method: string
  /** Raw pairs that cross the relay: neither `Host` nor anything about the connection is among them. */
  headers: RawHeaders
  hasBody: boolean
}

/**
 * `Host` and framing are ours, everything else is the caller's, in its order. @example […, 'X-A',
 * '1'] of a POST → ['host', 'a.example', 'connection', 'close', 'X-A', '1', …]
 */
export function toWireHeaders({ host, method, headers, hasBody }: WireRequest): string[] {
  const wire = ['host', host, 'connection', 'close']
  let length: string | null = null
  for (let index = 0; index + 1 < headers.length; index += 2) {
    const name = headers[index] ?? ''
    const value = headers[index + 1] ?? ''
    if (name.length === 14 && name.toLowerCase() === 'content-length') length = value
    else wire.push(name, value)
  }
  if (!hasBody) {
    if (SAYS_LENGTH.has(method)) wire.push('content-length', '0')
  } else if (length === null) wire.push('transfer-encoding', 'chunked')
  else wire.push('content-length', length)
  return wire
}

/** @example namesIn(' te  trailer ') → ['te', 'trailer'] */
export function namesIn(text: string): string[] {
  return text.trim().split(/\s+/)
}
