import type { RawHeaders } from './relayed-headers.ts'

/** Methods whose request says that it has no body, where it has none (RFC 9110 §8.6). */
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
 * The header lines of a request on a connection of its own: `Host` and framing are ours, all else is
 * the caller's, in its order.
 *
 * @example toWireHeaders({ host: 'a.example', method: 'POST', headers: ['X-A', '1'], hasBody: false })
 *   → ['host', 'a.example', 'connection', 'close', 'X-A', '1', 'content-length', '0']
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
