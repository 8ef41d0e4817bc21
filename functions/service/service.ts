import { once } from 'node:events'
import type { Server } from 'node:http'
import { resolve } from 'node:path'
import { createClickWriter } from '../clicks/go.ts'
import { createUsage } from '../clicks/usage.ts'
import type { Chore, Feature, Ledger, Parts, WriteLetter } from '../features/feature.ts'
import { createMailQueue, type Mailer, openMailer } from '../feeds/mail.ts'
import { createProblems } from '../http/answers.ts'
import { createResolver } from '../net/resolver.ts'
import { type Clock, systemClock } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { createProbeSigner, createRequestSigner } from '../probes/sign.ts'
import { createOnDemandPages } from '../release/on-demand-pages.ts'
import { createReleaseHolder } from '../release/release.ts'
import { createPageSearch } from '../search/search-routes.ts'
import { createFailureReport } from '../server/node-answers.ts'
import { createRateLimits } from '../server/rate-limits.ts'
import { openStore } from '../store/open-store.ts'
import { lockState, StateError, unusable } from '../store/sqlite.ts'
import { createSharedCounters, isStoreUnavailable } from '../store/store.ts'
import { createHints } from '../trust/measure.ts'
import { createFeatures } from './features.ts'
import type { Metrics } from './prometheus.ts'
import { createWaypostServer } from './server.ts'

export type Service = Awaited<ReturnType<typeof createService>>

interface ServiceOptions {
  config: Config
  log: Log
  clock?: Clock
  /** Replaces the mailer that the environment configures. */
  mailer?: Mailer
}

/** How long in-flight work may take after a stop was requested (milliseconds). */
const GRACE = 10_000

/**
 * Composes the whole service over the published release. It does not listen yet.
 * @throws OperatorError if there is no release, or it was built for another `BASE_URL`
 */
export async function createService(options: ServiceOptions) {
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
    pages: createOnDemandPages({
      ...parts,
      search: createPageSearch(parts),
      pages: new Map(features.flatMap(({ pages = {} }) => Object.entries(pages))),
      report: createFailureReport(parts),
    }),
  })
  const chores = startChores(
    features.flatMap((feature) => feature.chores ?? []),
    log,
  )
  return {
    server,
    parts,
    /** Checks for a new release now; a timer does this once a second. */
    refresh: releases.refresh,
    /** Stops accepting requests, lets requests in flight finish (bounded), and flushes. */
    async close(): Promise<void> {
      releases.close()
      chores.stop()
      await stopServer(server)
      await chores.idle()
      for (const feature of features) await feature.close?.()
      await parts.ledger.close()
    },
  }
}

type ReleaseHolder = Awaited<ReturnType<typeof createReleaseHolder>>

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

/** The library is loaded only if metrics are on. */
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

async function stopServer(server: Server): Promise<void> {
  if (!server.listening) return
  const closed = once(server, 'close')
  server.close()
  server.closeIdleConnections()
  const force = setTimeout(() => server.closeAllConnections(), GRACE)
  await closed
  clearTimeout(force)
}

interface LedgerOptions {
  config: Config
  log: Log
  clock: Clock
  /** The directory's name, for emails. */
  siteName: () => string
  /** Functions that write an email's text, by kind of email; features add theirs before anything is sent. */
  letters: ReadonlyMap<string, WriteLetter>
  mailer?: Mailer
  /** How long a redirect waits for a slow store (milliseconds); by default a second. */
  clickPatienceMs?: number
}

/**
 * Opens the ledger for a server: takes the lock on local state, opens and migrates the store.
 * @throws StateError if another process serves from the same `STATE_DIR`
 */
export async function openLedger(options: LedgerOptions): Promise<Ledger> {
  const { config, log, clock, siteName, letters, clickPatienceMs } = options
  const { mailer = openMailer(config) } = options
  const lock = config.DATABASE_URL === undefined ? await lockState(config.STATE_DIR) : null
  const store = await openStore(config, log).catch((error: unknown) => {
    lock?.release()
    if (!isStoreUnavailable(error)) throw error
    if (lock !== null) throw unusable(config.STATE_DIR, error)
    // The message is the driver's, and names host and user but never the password.
    const reason = error instanceof Error ? error.message : String(error)
    throw new StateError(
      `DATABASE_URL cannot be used (${reason}). Check that PostgreSQL is running.`,
    )
  })
  const clicks = createClickWriter(store, log, clickPatienceMs)
  const usage = createUsage(store, clock, log)
  const mails = createMailQueue({ store, clock, log }, async (address, task) => {
    const letter = await letters.get(task.kind)?.(address, task)
    if (letter == null) return false
    const { body, ...head } = letter
    const text = `Hello,\n\n${body}\n\n${siteName()}, ${config.BASE_URL}\n`
    await mailer.send({ ...head, text, to: address, sender: siteName() })
    return true
  })
  const hints = createHints({ store, clock, log })
  return {
    store,
    clicks,
    usage,
    mails,
    hints,
    close: async () => {
      await Promise.all([clicks.close(), usage.flush(), mails.close()])
      await hints.written()
      mailer.close()
      await store.close()
      lock?.release()
    },
  }
}

export function addLetters(letters: Map<string, WriteLetter>, features: readonly Feature[]): void {
  for (const feature of features)
    for (const [kind, write] of Object.entries(feature.letters ?? {})) letters.set(kind, write)
}

const FIRST_AFTER_MS = 60_000

/** Runs the work that a server does on its own; each chore is safe on several instances. */
function startChores(chores: readonly Chore[], log: Log) {
  const stopping = new AbortController()
  const rhythms = Map.groupBy(chores, ({ everyMs }) => everyMs)
  const running = new Map<number, Promise<void>>()
  const timers = [...rhythms].flatMap(([everyMs, group]) => {
    const run = () => {
      const before = running.get(everyMs) ?? Promise.resolve()
      running.set(
        everyMs,
        before.then(() => runChores(group, log, stopping.signal)),
      )
    }
    const first = everyMs > FIRST_AFTER_MS ? [setTimeout(run, FIRST_AFTER_MS)] : []
    return [...first, setInterval(run, everyMs)]
  })
  for (const timer of timers) timer.unref()
  return {
    stop: () => {
      for (const timer of timers) clearInterval(timer)
      stopping.abort()
    },
    /** Resolves when no chore is running. */
    idle: async () => void (await Promise.all(running.values())),
  }
}

/** Runs chores one after another; a failed chore is logged and does not stop the others. */
export async function runChores(
  chores: readonly Chore[],
  log: Log,
  signal: AbortSignal,
): Promise<void> {
  for (const { name, run } of chores) {
    if (signal.aborted) return
    try {
      await run(signal)
    } catch (error) {
      log.error('chores.failed', { chore: name, reason: String(error) })
    }
  }
}
