import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import inject from 'light-my-request'
import { callPath } from '../../../src/domain/wire/links.ts'
import type { Relay } from '../../call/relay.ts'

/** The caller as the relay must see it: its limits and its guard against loops use these. */
export interface Caller {
  remoteAddress?: string | undefined
  forwardedFor?: string | undefined
  localAddress?: string | undefined
  localPort?: number | undefined
  signal?: AbortSignal | undefined
}

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
 * One call through the relay itself: the same limits, guard, counts and settlement notes as for a
 * call over HTTP, except that request and response were never on a socket of ours.
 *
 * @param maxBytes bytes of the answer's body that are read; the rest is left with the seller
 */
export async function callThroughRelay(
  relay: Relay,
  caller: Caller,
  { id, method, endpoint, headers, body }: CallRequest,
  maxBytes: number,
): Promise<CallAnswer> {
  const query = endpoint === undefined ? '' : `?endpoint=${encodeURIComponent(endpoint)}`
  const response = await inject(
    (req, res) => {
      // The guard against loops compares the port this service was reached on.
      Object.assign(req.socket, { localAddress: caller.localAddress, localPort: caller.localPort })
      void relay(req, res)
      // The relay sees a caller that left, as on a socket.
      const leave = () => void res.destroy()
      if (caller.signal?.aborted === true) leave()
      else caller.signal?.addEventListener('abort', leave, { once: true })
    },
    {
      method,
      url: `${callPath(encodeURIComponent(id))}${query}`,
      remoteAddress: caller.remoteAddress ?? '',
      headers: {
        ...headers,
        ...(caller.forwardedFor !== undefined && { 'x-forwarded-for': caller.forwardedFor }),
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
  // Leaving the loop early destroyed the stream: the relay sees a caller that hung up.
  return { bytes: Buffer.concat(chunks).subarray(0, max), isCut: size > max }
}
