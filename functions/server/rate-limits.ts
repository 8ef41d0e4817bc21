import { hash } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { isIPv4, type Socket } from 'node:net'
import { parseIpAddress } from '../../src/domain/listing/target-url.ts'
import { type MakeProblem, refuse } from '../http/answers.ts'
import { type Config, type RateLimit, USUAL_LIMITS } from '../ports/config.ts'

/**
 * Rate limits for every capability: fixed windows, counted per key. Answers have the `RateLimit`
 * and `RateLimit-Policy` fields of draft-ietf-httpapi-ratelimit-headers. The clients in one IPv6
 * /48 share a second budget (`NETWORK_CLIENTS`).
 *
 * Known limitations: behind proxies, the client is the address that the nearest `TRUST_PROXY`
 * proxies report. A caller with many networks has many budgets. Around the end of a window a client
 * may use two budgets in a row. Several processes share counters only if the store keeps them.
 */
export type RateLimits = ReturnType<typeof createRateLimits>

interface LimitTaken {
  allowed: boolean
  /** `RateLimit-*` fields, and `Retry-After` if refused; empty if the limit is off. */
  headers: Record<string, string>
}

/** A /48 gets the budget of this many /64s, because the /64s in a phone network belong to strangers. */
const NETWORK_CLIENTS = 10

export function createRateLimits(
  config: Pick<Config, 'RATE_LIMITS'>,
  createCounter: CreateCounter = createMemoryCounter,
) {
  const counters = new Map<LimitName, Counter>()
  const counterOf = (name: LimitName, limit: { requests: number; seconds: number }) => {
    const counter = counters.get(name) ?? createCounter({ name, ...limit })
    counters.set(name, counter)
    return counter
  }
  return {
    /** Whether `key` has nothing left in its window; counts nothing. False if the limit is off. */
    async isUsedUp(name: LimitName, key: string): Promise<boolean> {
      const limit = limitOf(config, name)
      return limit !== null && (await counterOf(name, limit).peek(key)) >= limit.requests
    },
    /** Counts one request by `key` against the limit. A limit that is off allows every request. */
    async take(name: LimitName, key: string): Promise<LimitTaken> {
      const limit = limitOf(config, name)
      if (limit === null) return { allowed: true, headers: {} }
      const counter = counterOf(name, limit)
      const own = toTaken(name, limit, await counter.count(key))
      const network = networkOf(key)
      // A refused client must not use up its neighbours' budget.
      if (network === key || !own.allowed) return own
      const wider = { ...limit, requests: limit.requests * NETWORK_CLIENTS }
      const shared = toTaken(name, wider, await counter.count(network))
      return shared.allowed ? own : shared
    },
  }
}

function toTaken(
  name: LimitName,
  limit: { requests: number; seconds: number },
  { used, msBeforeReset }: { used: number; msBeforeReset: number },
): LimitTaken {
  const seconds = Math.max(1, Math.ceil(msBeforeReset / 1000))
  const allowed = used <= limit.requests
  const left = Math.max(0, limit.requests - used)
  return {
    allowed,
    headers: {
      'RateLimit-Policy': `"${name}";q=${limit.requests};w=${limit.seconds}`,
      RateLimit: `"${name}";r=${left};t=${seconds}`,
      ...(!allowed && { 'Retry-After': String(seconds) }),
    },
  }
}

/** @returns null if the request may go on, otherwise the 429 */
export function refusalOf(taken: LimitTaken, problem: MakeProblem): Response | null {
  return taken.allowed ? null : problem('rate-limited', toLimited(taken))
}

/** Refuses the request if a limit is used up. */
export function refuseTaken(taken: LimitTaken): void {
  if (!taken.allowed) refuse('rate-limited', toLimited(taken))
}

function toLimited({ headers }: LimitTaken) {
  return {
    detail: `Too many requests from this client; try again in ${headers['Retry-After']} s.`,
    headers: {
      ...headers,
      'Access-Control-Expose-Headers': 'RateLimit, RateLimit-Policy, Retry-After',
    },
  }
}

function limitOf({ RATE_LIMITS }: Pick<Config, 'RATE_LIMITS'>, name: LimitName): RateLimit {
  if (name === 'login_mails' || name === 'login_sent' || name === 'login_spare')
    return RATE_LIMITS.login === null ? null : LIMITS[name]
  const given = RATE_LIMITS[name === 'login_address' ? 'login' : name]
  return given === undefined ? LIMITS[name] : given
}

/**
 * `login` counts clients, `login_address` one client's requests for one address; the setting `login` controls both. The
 * other limits count emails to an address: five an hour, then a spare email every ten minutes for a client that has not
 * caused an email yet, so nobody can use up an owner's emails.
 */
const LIMITS = {
  ...USUAL_LIMITS,
  login_address: { requests: 5, seconds: 3600 },
  login_mails: { requests: 5, seconds: 3600 },
  login_sent: { requests: 1, seconds: 3600 },
  login_spare: { requests: 1, seconds: 600 },
}
export type LimitName = keyof typeof LIMITS

/** The counter for one limit. In memory by default; several instances share a store. */
export type CreateCounter = (options: {
  name: LimitName
  requests: number
  seconds: number
}) => Counter

export interface Counter {
  /** Counts one request; returns how many the key has used in its window, and when the window ends. */
  count(key: string): Promise<{ used: number; msBeforeReset: number }>
  /** How many requests the key has used in its window; counts nothing. */
  peek(key: string): Promise<number>
}

/** Most open windows; after that, new keys share buckets, so that rotating addresses cannot fill the memory. */
const MAX_KEYS = 50_000
const SHARED_BUCKETS = 1024

interface Window {
  used: number
  /** On the monotonic clock (milliseconds): changing the system time cannot lengthen a window. */
  endsAt: number
}

function toSharedBucket(key: string): string {
  return `shared ${Number.parseInt(hash('sha256', key).slice(0, 8), 16) % SHARED_BUCKETS}`
}

/** Counts only in memory. */
export function createMemoryCounter({ seconds }: { seconds: number }, now?: () => number): Counter {
  const { peek, count } = createWindows({ seconds }, now)
  return { peek: async (key) => peek(key), count: async (key) => count(key) }
}

/**
 * Fixed windows in memory. All windows have the same length, so they end in map order: each count
 * drops ended windows from the front.
 */
export function createWindows(
  { seconds }: { seconds: number },
  now: () => number = () => performance.now(),
) {
  const lengthMs = seconds * 1000
  const windows = new Map<string, Window>()
  /** No window ends before this time. */
  let nextEnd = 0
  const dropEnded = (at: number) => {
    for (const [ended, { endsAt }] of windows) {
      nextEnd = endsAt
      if (endsAt > at) return
      windows.delete(ended)
    }
  }
  return {
    peek(key: string): number {
      const open = windows.get(key)
      return open === undefined || open.endsAt <= now() ? 0 : open.used
    },
    count(key: string) {
      const at = now()
      if (at >= nextEnd) dropEnded(at)
      const isCrowded = windows.size >= MAX_KEYS && !windows.has(key)
      const counted = isCrowded ? toSharedBucket(key) : key
      const known = windows.get(counted)
      const open = known ?? { used: 0, endsAt: at + lengthMs }
      if (known === undefined) windows.set(counted, open)
      open.used += 1
      return { used: open.used, msBeforeReset: open.endsAt - at }
    },
  }
}

/**
 * The key that a limit counts: one IPv4 address or one IPv6 /64 (a household or a machine gets a
 * whole /64, so a limit on single addresses would limit nobody).
 *
 * `X-Forwarded-For` is believed only as far as `TRUST_PROXY` says: with n proxies in front, the
 * n-th entry from the right was written by the outermost of them; everything left of that entry is
 * the caller's own claim.
 * @param remoteAddress the socket's peer, undefined if the peer is already gone
 * @param forwardedFor the `X-Forwarded-For` header, with several lines joined by commas
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

/** The caller of work that takes a while. */
export interface Caller {
  client: string
  signal: AbortSignal
  /** The caller's connection: a run never sends requests to the address at which we received this call. */
  socket: Socket | undefined
}

/**
 * The network that contains a client's key: the /48 of an IPv6 /64, since the owner of one /64 usually has all 65,536
 * /64s of its /48. An IPv4 address is its own network: its neighbours are strangers to it.
 * @example networkOf('20010db800010002::/64') → '20010db80001::/48'
 * @example networkOf('198.51.100.7') → '198.51.100.7'
 */
export function networkOf(key: string): string {
  return key.endsWith('::/64') ? `${key.slice(0, 12)}::/48` : key
}

function toKey(text: string | undefined): string | null {
  if (text === undefined) return null
  // Fast path for nearly every peer: the code below gives the same result but takes ten times as long.
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
