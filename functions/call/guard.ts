import { isIP, connect as openTcp, type Socket } from 'node:net'
import { connect as openTls } from 'node:tls'
import { Agent, type buildConnector } from 'undici'
import { type AddressReason, judgeAddress } from '../../src/domain/relay/address-verdict.ts'
import type { ResolvedAddress } from '../ports/address-lookup.ts'
import type { Resolver } from '../ports/resolver.ts'

/**
 * Connections to foreign hosts. The address that was judged is the address that is dialled: names
 * are resolved here once for each connection, every answer is judged, and the socket gets the
 * judged list instead of the name. undici's own `connect.lookup` is not called for literal
 * addresses, so literals are judged from the URL.
 */
export interface GuardOptions {
  resolver: Resolver
  /** `UNSAFE_ALLOW_PRIVATE_TARGETS`. */
  allowPrivate: boolean
  /** Name resolution, TCP and TLS together, in milliseconds. */
  connectTimeoutMs?: number
  /** Refuses a judged address that is this service itself (508 `relay-loop`). */
  isOwnAddress?: (address: string, port: number) => boolean
}

export const CONNECT_TIMEOUT_MS = 10_000

/** An answer of the resolver, or a literal, that must not be dialled. */
export class AddressRefusedError extends Error {
  override name = 'AddressRefusedError'
  code = 'ADDRESS_REFUSED'
  reason: AddressReason
  constructor(reason: AddressReason, range: string) {
    super(`the host resolves to an address that is not public (${reason}, ${range})`)
    this.reason = reason
  }
}

export class OwnAddressError extends Error {
  override name = 'OwnAddressError'
  code = 'OWN_ADDRESS'
}

export class ConnectDeadlineError extends Error {
  override name = 'ConnectDeadlineError'
  code = 'CONNECT_TIMEOUT'
}

/**
 * An undici dispatcher for foreign URLs: guarded, HTTP/1.1, one request a connection, no redirects,
 * no retries. Use it with undici's `request`, never its `fetch` (which decompresses past any limit).
 *
 * @example await request(url, { dispatcher: createGuardedAgent({ resolver, allowPrivate: false }) })
 */
export function createGuardedAgent(options: GuardOptions): Agent {
  return new Agent({ connect: createGuardedConnector(options), pipelining: 0, allowH2: false })
}

/**
 * The connector beneath. Fails with `AddressRefusedError`, `OwnAddressError`,
 * `ConnectDeadlineError`, or what DNS, TCP and TLS say.
 */
export function createGuardedConnector(options: GuardOptions): buildConnector.connector {
  const timeout = options.connectTimeoutMs ?? CONNECT_TIMEOUT_MS
  return (target, callback) => {
    let socket: Socket | null = null
    let isOver = false
    const finish = (error: unknown) => {
      if (isOver) return
      isOver = true
      clearTimeout(deadline)
      if (error === null && socket !== null) return callback(null, socket)
      socket?.destroy()
      callback(error instanceof Error ? error : new Error(String(error)), null)
    }
    const deadline = setTimeout(
      () => finish(new ConnectDeadlineError(`not connected within ${timeout} ms`)),
      timeout,
    )
    findJudgedAddresses(target, options)
      .then((addresses) => {
        if (!isOver) socket = dial(target, addresses, finish)
      })
      .catch(finish)
  }
}

async function findJudgedAddresses(
  target: buildConnector.Options,
  { resolver, allowPrivate, isOwnAddress }: GuardOptions,
): Promise<ResolvedAddress[]> {
  const host = unbracket(target.hostname)
  const family = isIP(host)
  const addresses: ResolvedAddress[] =
    family === 0
      ? await resolver.addresses(host)
      : [{ address: host, family: family === 6 ? 6 : 4 }]
  for (const { address } of addresses) {
    // Ourselves first: under the trial setting loopback is allowed, a loop never is.
    if (isOwnAddress?.(address, portOf(target)))
      throw new OwnAddressError('the target is this service')
    const verdict = judgeAddress(address, { allowPrivate })
    if (!verdict.allowed) throw new AddressRefusedError(verdict.reason, verdict.range)
  }
  if (addresses.length === 0) throw Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
  return addresses
}

/** @param finish told null once connected to a judged address, else what went wrong. */
function dial(
  target: buildConnector.Options,
  addresses: ResolvedAddress[],
  finish: (error: unknown) => void,
): Socket {
  const host = unbracket(target.hostname)
  const [only] = addresses
  const place =
    addresses.length === 1 && only !== undefined
      ? { host: only.address, port: portOf(target), noDelay: true }
      : {
          host,
          port: portOf(target),
          noDelay: true,
          // Tries the judged addresses in turn (RFC 8305); nothing else can be dialled.
          lookup: createFixedLookup(addresses),
          autoSelectFamily: true,
        }
  const isSecure = target.protocol === 'https:'
  const socket = isSecure
    ? openTls({ ...place, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] })
    : openTcp(place)
  socket.once('error', finish)
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    socket.removeListener('error', finish)
    if (addresses.some(({ address }) => isSameAddress(address, socket.remoteAddress))) finish(null)
    else finish(new AddressRefusedError('not_an_address', 'another address than the one judged'))
  })
  return socket
}

type LookupCallback = (error: null, address: string | ResolvedAddress[], family?: number) => void

function createFixedLookup(addresses: ResolvedAddress[]) {
  return (_host: string, options: { all?: boolean | undefined }, callback: LookupCallback) => {
    const [first] = addresses
    if (options.all || first === undefined) callback(null, addresses)
    else callback(null, first.address, first.family)
  }
}

function isSameAddress(judged: string, remote: string | undefined): boolean {
  if (remote === undefined) return false
  return judged === remote || canonicalHost(judged) === canonicalHost(remote)
}

function canonicalHost(address: string): string {
  return new URL(isIP(address) === 6 ? `http://[${address}]/` : `http://${address}/`).hostname
}

function unbracket(hostname: string): string {
  return hostname.replace(/^\[(.*)\]$/, '$1')
}

function portOf({ port, protocol }: buildConnector.Options): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}
