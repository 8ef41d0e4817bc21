import { once } from 'node:events'
import type { Server } from 'node:http'
import { resolve } from 'node:path'
import type { Feature, Parts, WriteLetter } from '../features/feature.ts'
import type { Mailer } from '../feeds/mail.ts'
import { createProblems } from '../http/answers.ts'
import { createResolver } from '../net/resolver.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { createProbeSigner, createRequestSigner } from '../probes/sign.ts'
import { createOnDemandPages, createPageGate } from '../release/on-demand-pages.ts'
import { createReleaseHolder, type ReleaseHolder } from '../release/release-holder.ts'
import { createPageSearch } from '../search/search-routes.ts'
import { createFailureReport } from '../server/node-answers.ts'
import { createRateLimits } from '../server/rate-limits.ts'
import { createSharedCounters } from '../store/store.ts'
import { startChores } from './chores.ts'
import { createFeatures } from './features.ts'
import { addLetters, openLedger } from './ledger.ts'
import type { Metrics } from './prometheus.ts'
import { createWaypostServer } from './server.ts'

export interface Service {
  server: Server
  parts: Parts
  /** Looks for a new release now; a timer does it once a second. */
  refresh(): Promise<void>
  /** Verifies what loading the release did not. @throws ReleaseError when damaged */
  verify(): Promise<void>
  /** Stops accepting, lets requests in flight finish (bounded), flushes. */
  close(): Promise<void>
}

interface ServiceOptions {
  config: Config
  log: Log
  clock?: Clock
  /** Overrides the environment. */
  mailer?: Mailer
}

/** How long in-flight work may take after a stop was requested (milliseconds). */
const GRACE = 10_000

/**
 * Composes the whole service over the published release. It does not listen yet.
 *
 * @throws ReleaseError without a release, or with one that was built for another `BASE_URL`.
 */
export async function createService(options: ServiceOptions): Promise<Service> {
  const { config, log } = options
  const { OUT_DIR, BASE_URL: baseUrl } = config
  const releases = await createReleaseHolder({ outDir: resolve(OUT_DIR), baseUrl, log })
  const letters = new Map<string, WriteLetter>()
  const parts = await createParts(options, releases, letters)
  const metrics = await createMetrics(parts, releases)
  const features = createFeatures(parts, metrics)
  addLetters(letters, features)
  const server = createWaypostServer({
    parts,
    features,
    metrics,
    pages: createPages(parts, features),
  })
  const chores = startChores(
    features.flatMap((feature) => feature.chores ?? []),
    log,
  )
  return {
    server,
    parts,
    refresh: releases.refresh,
    verify: releases.verify,
    async close() {
      releases.close()
      chores.stop()
      await stopServer(server)
      await chores.idle()
      for (const feature of features) await feature.close?.()
      await parts.ledger.close()
    },
  }
}

async function createParts(
  { config, log, clock = systemClock, mailer }: ServiceOptions,
  releases: ReleaseHolder,
  letters: ReadonlyMap<string, WriteLetter>,
): Promise<Parts> {
  const resolver = createResolver(config.DNS_SERVERS)
  const ledger = await openLedger({
    config,
    log,
    clock,
    siteName: () => releases.current().site.name,
    letters,
    ...(mailer && { mailer }),
  })
  return {
    config,
    problem: createProblems(config.BASE_URL),
    clock,
    log,
    resolver,
    sign: createRequestSigner({ config, clock, log }, createProbeSigner({ ledger, clock })),
    limits: createRateLimits(config, createSharedCounters(ledger.store, clock)),
    ledger,
    release: releases.current,
    publishedAt: releases.publishedAt,
  }
}

/** The library is loaded only where metrics are on. */
async function createMetrics(
  parts: Parts,
  { publishedAt }: ReleaseHolder,
): Promise<Metrics | null> {
  const { config, clock, ledger } = parts
  if (config.METRICS_TOKEN === undefined) return null
  const { createPrometheusMetrics } = await import('./prometheus.ts')
  const { store, clicks } = ledger
  return createPrometheusMetrics({ store, clock, publishedAt, clicks: clicks.tally })
}

function createPages(parts: Parts, features: readonly Feature[]) {
  return createOnDemandPages({
    release: parts.release,
    baseUrl: parts.config.BASE_URL,
    search: createPageSearch(parts),
    gate: createPageGate(parts),
    pages: new Map(features.flatMap(({ pages = {} }) => Object.entries(pages))),
    report: createFailureReport(parts),
  })
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
