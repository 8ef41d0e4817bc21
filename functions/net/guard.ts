import { type ClientRequest, type RequestOptions, request } from 'node:http'
import { isIP, connect as openTcp, type Socket } from 'node:net'
import { networkInterfaces } from 'node:os'
import { connect as openTls } from 'node:tls'
import type { buildConnector } from 'undici'
import { type PrivateTargets, parseIpAddress } from '../../src/domain/listing/target-url.ts'
import { type AddressReason, judgeAddress } from '../../src/domain/relay/address-verdict.ts'
import type { Config } from '../ports/config.ts'
import type { ResolvedAddress, Resolver } from './resolver.ts'

/**
 * Connections to foreign hosts.
 *
 * Security model: only a judged address is dialled. Names are resolved here once for each
 * connection, every address found is judged, and the socket gets the judged list instead of the
 * name. undici's own `connect.lookup` is not called for literal addresses, so literals are judged
 * from the URL. The purpose decides what is reachable (`PURPOSES` below); each verdict is counted.
 *
 * Known limitations: a network's own NAT64 prefix looks like any other address. A range in
 * `PRIVATE_HOSTS` is open to every listed name that resolves into it. A proxy in the network may
 * send a connection elsewhere unnoticed.
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
   * One buffer that all these connections read into, instead of a new buffer for every read. A
   * `data` listener may use its chunk only until the listener returns.
   */
  readInto?: Buffer
}

/** Scheme, host and port, as a URL has them. */
type Target = Pick<URL, 'protocol' | 'hostname' | 'port'>

interface GuardParts {
  config: Pick<Config, 'PRIVATE_TARGETS' | 'UNSAFE_ALLOW_PRIVATE_TARGETS'>
  resolver: Resolver
  isOwnAddress?: GuardOptions['isOwnAddress']
}

/** The guard for a purpose. */
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
interface VerdictCount {
  purpose: Purpose
  /** `allowed`, `own_address`, `no_address`, `by_operator`, or the reason why an address was refused. */
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

/** A resolved or literal address that must not be dialled. */
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
 * A connector for undici's `Agent`; fails as `dialGuarded` does. Use it with undici's `request`,
 * never with its `fetch`, which decompresses without any limit.
 */
export function createGuardedConnector(options: GuardOptions): buildConnector.connector {
  return (target, callback) => void dialGuarded(target, options, callback)
}

/** One request by Node's own client, without an agent, on a connection that `dialGuarded` opened. */
export function requestOver(socket: Socket, options: RequestOptions): ClientRequest {
  return request({ ...options, createConnection: () => socket })
}

/** Called with the connection or the error; never before `dialGuarded` has returned. */
type OnDialled = (...result: [error: Error, socket: null] | [error: null, socket: Socket]) => void

/**
 * Opens one connection to a judged address. Fails with `AddressRefusedError`, `OwnAddressError`,
 * `ConnectDeadlineError`, or the error of DNS, TCP or TLS.
 * @returns a function that cancels: `done` is not called afterwards
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

/** @returns the addresses if all of them may be dialled; throws if any may not */
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
    // Our own address comes first: the trial setting allows loopback, but never a call to this service.
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

/** @param finish called with null once connected to a judged address, or with the error */
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
      : // Tries the judged addresses in turn (RFC 8305); no other address can be dialled.
        { host, lookup: createFixedLookup(addresses), autoSelectFamily: true }),
  }
  const isSecure = target.protocol === 'https:'
  const socket: Socket = isSecure
    ? openTls({ ...place, servername: isIP(host) === 0 ? host : '', ALPNProtocols: ['http/1.1'] })
    : openTcp(place)
  // This listener stays once connected: an error without any listener would end the process.
  socket.on('error', finish)
  socket.once(isSecure ? 'secureConnect' : 'connect', () => {
    if (addresses.some(({ address }) => isSameAddress(address, socket.remoteAddress))) finish(null)
    else finish(new AddressRefusedError('not_an_address', 'an address other than the judged one'))
  })
  return socket
}

/** Socket options with which little is buffered in either direction. */
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

function unbracket(hostname: string): string {
  return hostname.startsWith('[') ? hostname.slice(1, -1) : hostname
}

function portOf({ port, protocol }: Target): number {
  return Number(port || (protocol === 'https:' ? 443 : 80))
}

const WILDCARDS = new Set(['0.0.0.0', '::', '[::]'])

/**
 * Whether a target is this very service, by port and address: the address on which the caller
 * reached us, or any address of this machine if the service listens on all of them.
 * @param host `HOST`, the address that the server listens on
 */
export function createOwnAddress(host: string, socket: Pick<Socket, 'localAddress' | 'localPort'>) {
  return (address: string, port: number): boolean => {
    if (port !== socket.localPort) return false
    return WILDCARDS.has(host) ? isOfThisMachine(address) : isSame(address, socket.localAddress)
  }
}

/** Whether a URL has this service's own host name and port. `own` is `BASE_URL`. */
export function isOwnHost(url: URL, own: URL): boolean {
  return url.hostname.replace(/\.$/, '') === own.hostname && portOf(url) === portOf(own)
}

/** How long the addresses of our own name are trusted (milliseconds). */
const OWN_NAME_KEPT_MS = 60_000

/**
 * Addresses that lead to us under any other name: the address this process listens on, and the
 * addresses of our own name. Behind a proxy our name may have addresses that other sites share (a
 * CDN's), so there only this machine's addresses are included.
 *
 * Known limitation: another name for us at a proxy on another machine is not recognised.
 */
export function createOwnName({ config, resolver }: OwnNameParts) {
  const own = new URL(config.BASE_URL)
  const name = unbracket(own.hostname)
  const isListening = createOwnAddress(config.HOST, {
    localAddress: config.HOST,
    localPort: config.PORT,
  })
  let known: { until: number; addresses: string[] } = { until: 0, addresses: [] }
  const lookUp = async () => {
    if (isIP(name) !== 0) return [name]
    const found = await resolver.addresses(name).catch(() => [])
    return found.map(({ address }) => address)
  }
  return {
    /** Looks our name up again if the last lookup has expired. Never rejects. */
    async refresh(): Promise<void> {
      const now = performance.now()
      if (now >= known.until) known = { until: now + OWN_NAME_KEPT_MS, addresses: await lookUp() }
    },
    isOwn(address: string, port: number): boolean {
      if (isListening(address, port)) return true
      if (port !== portOf(own) || !known.addresses.some((each) => isSame(address, each)))
        return false
      return config.TRUST_PROXY === 0 || isOfThisMachine(address)
    },
  }
}

interface OwnNameParts {
  config: Pick<Config, 'BASE_URL' | 'HOST' | 'PORT' | 'TRUST_PROXY'>
  resolver: Pick<Resolver, 'addresses'>
}

function isOfThisMachine(address: string): boolean {
  if (/^(?:127\.|0\.|::1$|::$)/.test(address)) return true
  return Object.values(networkInterfaces()).some((list) =>
    list?.some((entry) => isSame(address, entry.address)),
  )
}

function isSame(left: string, right: string | undefined): boolean {
  const a = parseIpAddress(left)
  const b = parseIpAddress((right ?? '').replace(/^::ffff:(?=\d+\.)/i, '').replace(/%.*$/, ''))
  return a !== null && b !== null && a.family === b.family && a.value === b.value
}

const KIB = 1024
const MIB = 1024 * KIB

/** Limits of one request, in milliseconds and bytes. */
export interface HttpLimits {
  /** Name resolution, TCP and TLS together. */
  connectMs: number
  /** The whole request, from connecting to the last byte read, redirects included. */
  answerMs: number
  headerBytes: number
  bodyBytes: number
  /** Most bytes of a compressed body, once decompressed. */
  decodedBytes: number
}

interface PurposeRules {
  /**
   * Who named the address. `stranger`: anybody, so the address must be public and never this
   * service under another name. `listing`: our content, so hosts in `PRIVATE_HOSTS` are open too.
   * `operator`: a setting or a command, which is trusted.
   */
  named: 'stranger' | 'listing' | 'operator'
  /** `{base_url}` leads to a page that explains the prober and how to opt out. */
  userAgent: string
  limits: HttpLimits
  /**
   * Maximum number of redirects, each followed only if the caller allows its address; payments and
   * probes follow none.
   */
  redirects: number
}

const PROBE_AGENT = 'Directory-Probe/1 (+{base_url}/sellers/check)'

/** x402 version 2 puts its terms into a header, which can be long. */
const PROBE_LIMITS: HttpLimits = {
  connectMs: 10_000,
  answerMs: 20_000,
  headerBytes: 128 * KIB,
  bodyBytes: MIB,
  decodedBytes: 4 * MIB,
}

function toShortLimits(connectMs: number, answerMs: number, bytes: number): HttpLimits {
  return { connectMs, answerMs, headerBytes: 16 * KIB, bodyBytes: bytes, decodedBytes: bytes }
}

/**
 * Every purpose for which the server, its chores and the importers send HTTP requests to others,
 * with its limits. Email, DNS and PostgreSQL use no HTTP, and `health` calls this very server: they
 * have no row here.
 *
 * The relay streams both ways, on its own connection from the guard: only the address rules,
 * connect time and header bytes in its row apply; `relay_info` publishes its other limits.
 */
export const PURPOSES = {
  relay: { named: 'listing', userAgent: '', limits: PROBE_LIMITS, redirects: 0 },
  probe: { named: 'listing', userAgent: PROBE_AGENT, limits: PROBE_LIMITS, redirects: 0 },
  /** Addresses to check, reported addresses that a reviewer opens, documents named by a source. */
  stranger: { named: 'stranger', userAgent: PROBE_AGENT, limits: PROBE_LIMITS, redirects: 0 },
  /** Proofs that a host belongs to its seller, and the keys of the party that issued a workflow's token. */
  claim: {
    named: 'listing',
    userAgent: 'Directory-Claim/1',
    limits: toShortLimits(10_000, 10_000, 64 * KIB),
    redirects: 3,
  },
  /** One page of an importer's source. */
  source: {
    named: 'operator',
    userAgent: 'Directory-Seed/1 (+{base_url}/sources)',
    limits: {
      connectMs: 10_000,
      answerMs: 30_000,
      headerBytes: 64 * KIB,
      bodyBytes: 32 * MIB,
      decodedBytes: 32 * MIB,
    },
    redirects: 3,
  },
  /** A chain's JSON-RPC, from `RPC_URLS`. */
  node: {
    named: 'operator',
    userAgent: 'Directory-Meter/1',
    limits: toShortLimits(15_000, 15_000, 16 * MIB),
    redirects: 0,
  },
} as const satisfies Record<string, PurposeRules>
export type Purpose = keyof typeof PURPOSES

/** Limits for all runs for strangers together, in addition to those for each request. */
export const ANONYMOUS_PROBES = {
  /** Requests that one run may send to the named host, whatever is found there. */
  requests: 16,
  runMs: 40_000,
  /** Maximum number of concurrent runs; a network is an IPv6 /48. */
  perClient: 1,
  perNetwork: 2,
  perHost: 1,
  inAll: 12,
  retryAfterS: 10,
}

type TargetSettings = Pick<Config, 'PRIVATE_TARGETS' | 'UNSAFE_ALLOW_PRIVATE_TARGETS'>

/** Internal addresses that a purpose may reach; `UNSAFE_ALLOW_PRIVATE_TARGETS` opens all to every purpose. */
export function privateTargetsOf(purpose: Purpose, config: TargetSettings): PrivateTargets {
  const { named } = PURPOSES[purpose]
  if (named === 'operator') return true
  return named === 'listing' ? config.PRIVATE_TARGETS : config.UNSAFE_ALLOW_PRIVATE_TARGETS
}
