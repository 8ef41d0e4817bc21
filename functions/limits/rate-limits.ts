import { RateLimiterMemory, RateLimiterRes } from 'rate-limiter-flexible'
import type { MakeProblem } from '../http/problem.ts'
import type { Config, RateLimit, RateLimitName } from '../ports/config.ts'

/**
 * Rate limits for every capability: fixed windows, counted for each key. Answers carry the
 * `RateLimit` and `RateLimit-Policy` fields of draft-ietf-httpapi-ratelimit-headers.
 */
export interface RateLimits {
  /** Counts one request of `key` against the limit. Switched-off limits always allow. */
  take(name: LimitName, key: string): Promise<LimitTaken>
  /** Whether `key` has nothing left in its window; counts nothing. False where the limit is off. */
  isUsedUp(name: LimitName, key: string): Promise<boolean>
}

export interface LimitTaken {
  allowed: boolean
  /** `RateLimit-*` fields, and `Retry-After` when refused; empty where the limit is off. */
  headers: Record<string, string>
}

/**
 * `login` counts clients, `login_address` what one client asks for one address; one setting, `login`,
 * rules both. The others count mails to an address: five an hour, then a spare one in ten minutes for
 * a client that had none sent, so that nobody can use an address up for its owner.
 */
export type LimitName =
  | RateLimitName
  | 'login_address'
  | 'login_mails'
  | 'login_sent'
  | 'login_spare'

const DEFAULTS: Record<LimitName, { requests: number; seconds: number }> = {
  search: { requests: 600, seconds: 60 },
  // One purchase is two calls.
  call: { requests: 120, seconds: 60 },
  go: { requests: 120, seconds: 60 },
  login: { requests: 20, seconds: 3600 },
  login_address: { requests: 5, seconds: 3600 },
  login_mails: { requests: 5, seconds: 3600 },
  login_sent: { requests: 1, seconds: 3600 },
  login_spare: { requests: 1, seconds: 600 },
  session: { requests: 60, seconds: 3600 },
  claim: { requests: 60, seconds: 3600 },
  check: { requests: 10, seconds: 3600 },
  payout: { requests: 30, seconds: 3600 },
}

/** What one limit is counted with. Memory by default; several instances share a store. */
export type CreateCounter = (options: {
  name: LimitName
  requests: number
  seconds: number
}) => Counter

export interface Counter {
  /** Counts one and answers how many the key has used in its window, and when that ends. */
  count(key: string): Promise<{ used: number; msBeforeReset: number }>
  /** How many the key has used in its window; counts nothing. */
  peek(key: string): Promise<number>
}

export function createRateLimits(
  config: Pick<Config, 'RATE_LIMITS'>,
  createCounter: CreateCounter = createMemoryCounter,
): RateLimits {
  const counters = new Map<LimitName, Counter>()
  const counterOf = (name: LimitName, limit: { requests: number; seconds: number }) => {
    const counter = counters.get(name) ?? insure(createCounter({ name, ...limit }), limit)
    counters.set(name, counter)
    return counter
  }
  return {
    async isUsedUp(name, key) {
      const limit = limitOf(config, name)
      return limit !== null && (await counterOf(name, limit).peek(key)) >= limit.requests
    },
    async take(name, key) {
      const limit = limitOf(config, name)
      if (limit === null) return { allowed: true, headers: {} }
      const { used, msBeforeReset } = await counterOf(name, limit).count(key)
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
    },
  }
}

/** While the store is down each instance counts for itself: a limit must not become an outage. */
function insure(counter: Counter, limit: { requests: number; seconds: number }): Counter {
  const spare = createMemoryCounter(limit)
  return {
    count: (key) => counter.count(key).catch(() => spare.count(key)),
    peek: (key) => counter.peek(key).catch(() => spare.peek(key)),
  }
}

/**
 * @returns null when the request may go on, else the 429.
 * @example const refusal = refusalOf(await limits.take('search', key), problem)
 */
export function refusalOf(taken: LimitTaken, problem: MakeProblem): Response | null {
  if (taken.allowed) return null
  return problem('rate-limited', {
    detail: `Too many requests from this client; try again in ${taken.headers['Retry-After']} s.`,
    headers: {
      ...taken.headers,
      'Access-Control-Expose-Headers': 'RateLimit, RateLimit-Policy, Retry-After',
    },
  })
}

function limitOf(config: Pick<Config, 'RATE_LIMITS'>, name: LimitName): RateLimit {
  if (name === 'login_mails' || name === 'login_sent' || name === 'login_spare')
    return config.RATE_LIMITS.login === null ? null : DEFAULTS[name]
  const given = config.RATE_LIMITS[name === 'login_address' ? 'login' : name]
  return given === undefined ? DEFAULTS[name] : given
}

/** New keys a window may bring before they share buckets: rotating addresses must not eat memory. */
const MAX_NEW_KEYS = 50_000
const SHARED_BUCKETS = 1024

export function createMemoryCounter({
  requests,
  seconds,
}: {
  requests: number
  seconds: number
}): Counter {
  const limiter = new RateLimiterMemory({ points: requests, duration: seconds })
  let newKeys = 0
  let windowStart = performance.now()
  return {
    peek: async (key) => (await limiter.get(key))?.consumedPoints ?? 0,
    async count(key) {
      if (performance.now() - windowStart > seconds * 1000) {
        newKeys = 0
        windowStart = performance.now()
      }
      const isCrowded = newKeys >= MAX_NEW_KEYS && (await limiter.get(key)) === null
      const result = await limiter
        .consume(isCrowded ? sharedBucketOf(key) : key)
        .catch((refused: unknown) => {
          if (refused instanceof RateLimiterRes) return refused
          throw refused
        })
      if (result.isFirstInDuration) newKeys += 1
      return { used: result.consumedPoints, msBeforeReset: result.msBeforeNext }
    },
  }
}

function sharedBucketOf(key: string): string {
  let hash = 0
  for (let index = 0; index < key.length; index += 1)
    hash = (Math.imul(hash, 31) + key.charCodeAt(index)) >>> 0
  return `shared ${hash % SHARED_BUCKETS}`
}
