import { type ClientRequest, type RequestOptions, request } from 'node:http'
import { isIP, connect as openTcp, type Socket } from 'node:net'
import { connect as openTls } from 'node:tls'
import type { buildConnector } from 'undici'
import type { PrivateTargets } from '../../src/domain/listing/target-url.ts'
import { type AddressReason, judgeAddress } from '../../src/domain/relay/address-verdict.ts'
import type { Config } from '../ports/config.ts'
import { PURPOSES, type Purpose, privateTargetsOf } from './purposes.ts'
import type { ResolvedAddress, Resolver } from './resolver.ts'

/**
 * Connections to foreign hosts.
 *
 * Security model: the address that was judged is the address that is dialled. Names are resolved
 * here once for each connection, every answer is judged, and the socket gets the judged list
 * instead of the name. undici's own `connect.lookup` is not called for literal addresses, so
 * literals are judged from the URL. The purpose decides what is reachable (`purposes.ts`); each
 * verdict is counted.
 *
 * Known limitations: a network's own NAT64 prefix looks like any other address. A range of
 * `PRIVATE_HOSTS` is open to every listed name that resolves into it. We cannot see what a proxy of
 * the network does with a connection.
 */
export interface GuardOptions {
  purpose: Purpose
  resolver: Resolver
  allowPrivate: PrivateTargets
  /** Name resolution, TCP and TLS together, in milliseconds. */
  connectTimeoutMs: number
  /** Refuses a judged address that is this service itself (508 `relay-loop`). */
  isOwnAddress?: ((address: string, port: number) => boolean) | undefined
  /**
   * One buffer that all these connections read into, instead of a new one for every read. A
   * listener of `data` owns its chunk only until it returns.
   */
  readInto?: Buffer
}

/** Scheme, host and port, as a URL has them. */
export type Target = Pick<URL, 'protocol' | 'hostname' | 'port'>

interface GuardParts {
  config: Pick<Config, 'PRIVATE_TARGETS' | 'UNSAFE_ALLOW_PRIVATE_TARGETS'>
  resolver: Resolver
  isOwnAddress?: GuardOptions['isOwnAddress']
}

/** The guard of a purpose. */
export function toGuard(purpose: Purpose, { config, resolver, isOwnAddress }: GuardParts) {
  return {
    purpose,
    resolver,
    allowPrivate: privateTargetsOf(purpose, config),
    connectTimeoutMs: PURPOSES[purpose].limits.connectMs,
    isOwnAddress,
  } satisfies GuardOptions
}

/** How connections were judged since the process started. */
export interface VerdictCount {
  purpose: Purpose
  /** `allowed`, `own_address`, `no_address`, `by_operator`, or why an address was refused. */
  verdict: string
  count: number
}
const verdicts = new Map<string, VerdictCount>()

export function countVerdict(purpose: Purpose, verdict: string): void {
  const key = `${purpose} ${verdict}`
  const known = verdicts.get(key) ?? { purpose, verdict, count: 0 }
  known.count += 1
  verdicts.set(key, known)
}

export function listVerdicts(): readonly VerdictCount[] {
  return [...verdicts.values()]
}

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
 * A connector for undici's `Agent`; fails as `dialGuarded` does. Use it with undici's `request`, never
 * its `fetch`, which decompresses past any limit.
 */
export function createGuardedConnector(options: GuardOptions): buildConnector.connector {
  return (target, callback) => void dialGuarded(target, options, callback)
}

/** One request by Node's own client, without an agent, on a connection that `dialGuarded` opened. */
export function requestOver(socket: Socket, options: RequestOptions): ClientRequest {
  return request({ ...options, createConnection: () => socket })
}

/** Called with the connection or the error; never before `dialGuarded` has returned. */
export type OnDialled = (
  ...result: [error: Error, socket: null] | [error: null, socket: Socket]
) => void

/**
 * Opens one connection to a judged address. Fails with `AddressRefusedError`, `OwnAddressError`,
 * `ConnectDeadlineError`, or what DNS, TCP and TLS say.
 *
 * @returns a function that gives up: then no callback is called
 */
export function dialGuarded(target: Target, options: GuardOptions, done: OnDialled): () => void {
  const timeout = options.connectTimeoutMs
  let socket: Socket | null = null
  let isOver = false
  const stop = () => {
    isOver = true
    clearTimeout(deadline)
  }
  const finish = (error: unknown) => {
    if (isOver) return
    stop()
    if (error === null && socket !== null) return done(null, socket)
    socket?.destroy()
    done(error instanceof Error ? error : new Error(String(error)), null)
  }
  const deadline = setTimeout(
    () => finish(new ConnectDeadlineError(`not connected within ${timeout} ms`)),
    timeout,
  )
  const start = (addresses: ResolvedAddress[]) => {
    if (!isOver) socket = dial(target, judgeAll(addresses, target, options), options, finish)
  }
  const host = unbracket(target.hostname)
  const family = isIP(host)
  try {
    if (family === 0) options.resolver.addresses(host).then(start).catch(finish)
    else start([{ address: host, family: family === 6 ? 6 : 4 }])
  } catch (error) {
    process.nextTick(finish, error)
  }
  return () => {
    if (isOver) return
    stop()
    socket?.destroy()
  }
}

/** @returns the addresses, where every one may be dialled; throws where one may not. */
function judgeAll(
  addresses: ResolvedAddress[],
  target: Target,
  options: GuardOptions,
): ResolvedAddress[] {
  const refusal = findRefusal(addresses, target, options)
  countVerdict(options.purpose, refusal === null ? 'allowed' : refusal.verdict)
  if (refusal !== null) throw refusal.error
  return addresses
}

function findRefusal(
  addresses: ResolvedAddress[],
  target: Target,
  { allowPrivate, isOwnAddress }: GuardOptions,
): { verdict: string; error: Error } | null {
  for (const { address } of addresses) {
    // Ourselves first: under the trial setting loopback is allowed, a loop never is.
    if (isOwnAddress?.(address, portOf(target)))
      return { verdict: 'own_address', error: new OwnAddressError('the target is this service') }
    const judged = judgeAddress(address, { allowPrivate, hostname: target.hostname })
    if (!judged.allowed) {
      const { reason, range } = judged
      return { verdict: reason, error: new AddressRefusedError(reason, range) }
    }
  }
  if (addresses.length > 0) return null
  const error = Object.assign(new Error('no address'), { code: 'ENOTFOUND' })
  return { verdict: 'no_address', error }
}

/** @param finish called with null once connected to a judged address, else with the error. */
function dial(
  target: Target,
  addresses: ResolvedAddress[],
  { readInto }: GuardOptions,
  finish: (error: unknown) => void,
): Socket {
  const host = unbracket(target.hostname)
  const [only] = addresses
  const place = {
    port: portOf(target),
    ...(readInto === undefined ? { noDelay: true } : toSparing(readInto, () => socket)),
    ...(addresses.length === 1 && only !== undefined
      ? { host: only.address }
      : // Tries the judged addresses in turn (RFC 8305); nothing else can be dialled.
        { host, lookup: createFixedLookup(addresses), autoSelectFamily: true }),
  }
  const isSecure = target.protocol === 'https:'
  const socket: Socket = isSecure
    ? openTls({ ...place, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] })
    : openTcp(place)
  // This listener stays: once connected it does nothing, and no other may be attached yet.
  socket.on('error', finish)
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    if (addresses.some(({ address }) => isSameAddress(address, socket.remoteAddress))) finish(null)
    else finish(new AddressRefusedError('not_an_address', 'another address than the one judged'))
  })
  return socket
}

/** A connection that buffers little, in either direction. */
function toSparing(buffer: Buffer, socket: () => Socket) {
  const callback = (length: number) => socket().emit('data', buffer.subarray(0, length))
  return { onread: { buffer, callback }, highWaterMark: buffer.length }
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

export function unbracket(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

export function portOf({ port, protocol }: Target): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}
