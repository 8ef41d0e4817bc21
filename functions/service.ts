import { once } from 'node:events'
import type { Server } from 'node:http'
import { resolve } from 'node:path'
import { createRelay } from './call/relay.ts'
import type { Config } from './config.ts'
import type { Log } from './log.ts'
import { createOnDemandPages } from './on-demand-pages.ts'
import type { Parts } from './parts.ts'
import { type Clock, systemClock } from './ports/clock.ts'
import { createResolver } from './ports/resolver.ts'
import { createProblems } from './problem.ts'
import { createRateLimits } from './rate-limits.ts'
import { createReleaseHolder } from './release-holder.ts'
import { createPageSearch, createSearchRoute } from './search-route.ts'
import { createWaypostServer } from './server.ts'

export interface Service {
  server: Server
  parts: Parts
  /** Looks for a new release now; a timer does it once a second. */
  refresh(): void
  /** Stops accepting, lets what is in flight finish (bounded), flushes. */
  close(): Promise<void>
}

export interface ServiceOptions {
  config: Config
  log: Log
  clock?: Clock
}

/** In-flight work may take this long after a stop was asked for (milliseconds). */
const GRACE = 10_000

/**
 * Composes the whole service over the published release. It does not listen yet.
 *
 * @throws ReleaseError when there is no release, or it was built for another `BASE_URL`.
 */
export async function createService({
  config,
  log,
  clock = systemClock,
}: ServiceOptions): Promise<Service> {
  const problem = createProblems(config.BASE_URL)
  const releases = createReleaseHolder({
    outDir: resolve(config.OUT_DIR),
    baseUrl: config.BASE_URL,
    log,
  })
  const parts: Parts = {
    config,
    problem,
    clock,
    log,
    resolver: createResolver(config.DNS_SERVERS),
    limits: createRateLimits(config),
    release: releases.current,
  }
  const server = createWaypostServer({
    parts,
    handlers: { search: createSearchRoute(parts) },
    relay: createRelay(parts),
    pages: createOnDemandPages({
      dir: releases.dir,
      locals: { search: createPageSearch(parts) },
      log,
    }),
  })
  return {
    server,
    parts,
    refresh: releases.refresh,
    async close() {
      releases.close()
      await stopServer(server)
    },
  }
}

async function stopServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const force = setTimeout(() => server.closeAllConnections(), GRACE)
  await closed
  clearTimeout(force)
}
