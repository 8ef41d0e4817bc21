import type { MakeProblem } from '../http/problem.ts'
import type { RateLimits } from '../limits/rate-limits.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import type { Resolver } from '../ports/resolver.ts'
import type { Release } from '../release/release.ts'
import type { Ledger } from './ledger.ts'

/** What every capability is made from. Tests hand in their own clock, log and release. */
export interface Parts {
  config: Config
  problem: MakeProblem
  clock: Clock
  log: Log
  resolver: Resolver
  limits: RateLimits
  /** Clicks, sellers, claims: what must be remembered. */
  ledger: Ledger
  /** The release being served right now; ask again for each request, a new build swaps it. */
  release: () => Release
}
