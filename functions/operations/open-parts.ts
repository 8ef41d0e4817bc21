import { resolve } from 'node:path'
import { createProblems } from '../http/problem.ts'
import { createRateLimits } from '../limits/rate-limits.ts'
import type { Parts } from '../parts/parts.ts'
import { systemClock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { createResolver } from '../ports/resolver.ts'
import { createReleaseHolder } from '../release/release-holder.ts'
import { openStore } from '../store/open-store.ts'
import { createLedger } from './open-ledger.ts'

/** The parts for a command beside a running server: both databases take a second writer. */
export async function openParts(config: Config, log: Log) {
  const releases = await createReleaseHolder({
    outDir: resolve(config.OUT_DIR),
    baseUrl: config.BASE_URL,
    log,
  })
  const store = await openStore(config, log)
  const ledger = createLedger(store, {
    config,
    log,
    clock: systemClock,
    siteName: () => releases.current().site.name,
  })
  const parts: Parts = {
    config,
    log,
    ledger,
    problem: createProblems(config.BASE_URL),
    clock: systemClock,
    resolver: createResolver(config.DNS_SERVERS),
    limits: createRateLimits(config),
    release: releases.current,
  }
  return {
    parts,
    [Symbol.asyncDispose]: async () => {
      releases.close()
      await ledger.close()
    },
  }
}
