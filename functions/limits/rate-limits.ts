import type { MakeProblem } from '../http/problem.ts'
import type { Config, RateLimit } from '../ports/config.ts'
import { networkOf } from './client-key.ts'
import {
  type Counter,
  type CreateCounter,
  createMemoryCounter,
  LIMITS,
  type LimitName,
} from './counter.ts'

/**
 * Rate limits for every capability: fixed windows, counted for each key. Answers carry the
 * `RateLimit` and `RateLimit-Policy` fields of draft-ietf-httpapi-ratelimit-headers. The clients of one
 * IPv6 /48 share a second budget (`NETWORK_CLIENTS`).
 */
export type RateLimits = ReturnType<typeof createRateLimits>

export interface LimitTaken {
  allowed: boolean
  /** `RateLimit-*` fields, and `Retry-After` when refused; empty where the limit is off. */
  headers: Record<string, string>
}

/** A /48 gets the budget of this many /64s: those of a phone network are strangers. */
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
    /** Whether `key` has nothing left in its window; counts nothing. False where the limit is off. */
    async isUsedUp(name: LimitName, key: string): Promise<boolean> {
      const limit = limitOf(config, name)
      return limit !== null && (await counterOf(name, limit).peek(key)) >= limit.requests
    },
    /** Counts one request of `key` against the limit. Switched-off limits always allow. */
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

/** @returns null when the request may go on, else the 429. */
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

function limitOf({ RATE_LIMITS }: Pick<Config, 'RATE_LIMITS'>, name: LimitName): RateLimit {
  if (name === 'login_mails' || name === 'login_sent' || name === 'login_spare')
    return RATE_LIMITS.login === null ? null : LIMITS[name]
  const given = RATE_LIMITS[name === 'login_address' ? 'login' : name]
  return given === undefined ? LIMITS[name] : given
}
