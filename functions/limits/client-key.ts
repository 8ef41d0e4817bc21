import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIPv4, type Socket } from 'node:net'
import type { H3Event } from 'h3'
import { parseIpAddress } from '../../src/domain/wire/ip-address.ts'
import type { Config } from '../ports/config.ts'

/**
 * The key a limit counts by: one IPv4 address or one IPv6 /64 (a household or a machine gets a
 * whole /64, so counting single addresses would count nobody).
 *
 * `X-Forwarded-For` is believed only as far as `TRUST_PROXY` says: with n proxies in front, the
 * n-th entry from the right was written by the outermost of them; everything left of it is the
 * caller's own claim.
 *
 * @param remoteAddress the socket's peer, undefined when it is already gone.
 * @param forwardedFor the `X-Forwarded-For` header, several lines joined by commas.
 * @example clientKey('::ffff:198.51.100.7', null, 0) → '198.51.100.7'
 * @example clientKey('2001:db8:1:2:3::4', null, 0) → '20010db800010002::/64'
 */
export function clientKey(
  remoteAddress: string | undefined,
  forwardedFor: string | null | undefined,
  trustProxy: number,
): string {
  const claimed = trustProxy > 0 ? forwardedFor?.split(',').at(-trustProxy)?.trim() : undefined
  // Fewer entries than proxies, or garbage: only the peer itself is certain.
  return toKey(claimed) ?? toKey(remoteAddress) ?? 'unknown'
}

export function clientOf(
  { ip, headers }: { ip?: string | undefined; headers: Headers },
  { TRUST_PROXY }: Pick<Config, 'TRUST_PROXY'>,
): string {
  return clientKey(ip, headers.get('x-forwarded-for'), TRUST_PROXY)
}

export function nodeClientOf(
  { socket, headers }: IncomingMessage,
  { TRUST_PROXY }: Pick<Config, 'TRUST_PROXY'>,
): string {
  return clientKey(socket.remoteAddress, String(headers['x-forwarded-for'] ?? ''), TRUST_PROXY)
}

/** Whoever makes this service do something that takes a while. */
export interface Caller {
  client: string
  signal: AbortSignal
  /** The caller's connection; a run never requests the address at our end of it. */
  socket: Socket | undefined
}

export function toCaller({ req }: Pick<H3Event, 'req'>, config: Config): Caller {
  return {
    client: clientOf(req, config),
    signal: req.signal,
    socket: req.runtime?.node?.req.socket,
  }
}

export function toPageCaller(req: IncomingMessage, res: ServerResponse, config: Config): Caller {
  const left = new AbortController()
  res.once('close', () => {
    if (!res.writableEnded) left.abort()
  })
  return { client: nodeClientOf(req, config), signal: left.signal, socket: req.socket }
}

/**
 * The network a client's key lies in: the /48 of an IPv6 /64, since the owner of one /64 usually
 * has all 65,536 of a /48. An IPv4 address is its own network: its neighbours are strangers to it.
 *
 * @example networkOf('20010db800010002::/64') → '20010db80001::/48'
 * @example networkOf('198.51.100.7') → '198.51.100.7'
 */
export function networkOf(key: string): string {
  return key.endsWith('::/64') ? `${key.slice(0, 12)}::/48` : key
}

function toKey(text: string | undefined): string | null {
  if (text === undefined) return null
  // Fast path for nearly every peer: the code below gives the same result in ten times the time.
  if (isIPv4(text)) return text
  const bare = text.replace(/^\[(.*)\](?::\d+)?$/, '$1').replace(/^(\d[\d.]*):\d+$/, '$1')
  const address = parseIpAddress(bare.replace(/%.*$/, ''))
  if (address === null) return null
  const { family, value } = address
  if (family === 4) return dotted(value)
  // A dual-stack socket shows IPv4 peers as ::ffff:a.b.c.d, which would all share one /64.
  if (value >> 32n === 0xffffn) return dotted(value & 0xffffffffn)
  return `${(value >> 64n).toString(16).padStart(16, '0')}::/64`
}

function dotted(value: bigint): string {
  return [24n, 16n, 8n, 0n].map((shift) => (value >> shift) & 255n).join('.')
}
