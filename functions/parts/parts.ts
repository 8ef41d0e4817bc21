import type { H3Event, HTTPResponse } from 'h3'
import type { ClickWriter } from '../analytics/go-writer.ts'
import type { Usage } from '../analytics/usage.ts'
import type { MakeProblem } from '../http/answers.ts'
import type { MailQueue } from '../mails/mail-queue.ts'
import type { Resolver } from '../net/resolver.ts'
import type { Clock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import type { Release } from '../release/release.ts'
import type { RateLimits } from '../server/rate-limits.ts'
import type { Store } from '../store/store.ts'
import type { Hints } from '../trust/hints.ts'

/** What every capability is made from. Tests pass in their own clock, log and release. */
export interface Parts {
  config: Config
  problem: MakeProblem
  clock: Clock
  log: Log
  resolver: Resolver
  limits: RateLimits
  ledger: Ledger
  /** The current release; read it again for each request, as a new build swaps it. */
  release: () => Release
}

export interface Ledger {
  store: Store
  clicks: ClickWriter
  usage: Usage
  mails: MailQueue
  hints: Hints
  /** Writes what is still in memory, then closes the store. */
  close(): Promise<void>
}

export type Handler = (event: H3Event) => Response | HTTPResponse | Promise<Response | HTTPResponse>
