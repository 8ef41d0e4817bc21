import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { DOORS } from '../../src/domain/wire/door-table.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import type { ClickTally } from '../analytics/go-writer.ts'
import type { Clock } from '../ports/clock.ts'
import { CHECK_STATES } from '../store/migrations/payment-tables.ts'
import type { Store } from '../store/schema/store.ts'
import type { Metrics } from './metrics.ts'

/** Upper bounds of the latency histogram (seconds): searches stand at the left, calls at the right. */
const LATENCY_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/**
 * Metrics in a registry of their own, of prom-client's making: with its process figures, the event
 * loop's delay among them, and with what the ledger says at the moment of being asked.
 */
export function createPrometheusMetrics(sources: MetricsSources): Metrics {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const watch = createWatch(registry)
  const calls = new Counter({
    name: 'waypost_relay_calls_total',
    help: 'Calls through the relay, by how they ended.',
    labelNames: ['outcome'],
    registers: [registry],
  })
  addClicks(registry, sources)
  addQueues(registry, sources)
  addRelease(registry, sources)
  return {
    watch,
    relayed: (outcome) => calls.inc({ outcome }),
    expose: async () => ({
      contentType: registry.contentType,
      text: await registry.metrics(),
    }),
  }
}

function createWatch(registry: Registry): Metrics['watch'] {
  const requests = new Counter({
    name: 'waypost_http_requests_total',
    help: 'Requests, by route and status; "aborted" is an answer that nobody took to its end.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'waypost_http_request_duration_seconds',
    help: 'Time from a request being taken up to its answer having left.',
    labelNames: ['route'],
    buckets: LATENCY_BUCKETS,
    registers: [registry],
  })
  return (method, path, res) => {
    const startedAt = performance.now()
    res.once('close', () => {
      const route = toRouteLabel(path)
      const status = res.writableFinished ? String(res.statusCode) : 'aborted'
      requests.inc({ route, method: METHODS.has(method) ? method : 'other', status })
      durations.observe({ route }, (performance.now() - startedAt) / 1000)
    })
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

function addClicks(registry: Registry, { clicks }: MetricsSources): void {
  const gauge: Gauge = new Gauge({
    name: 'waypost_clicks',
    help: 'Clicks of this process: written to the store, lost, waiting for it.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      for (const [state, value] of Object.entries(clicks())) gauge.set({ state }, value)
    },
  })
}

function addQueues(registry: Registry, { store, clock }: MetricsSources): void {
  const mail: Gauge = new Gauge({
    name: 'waypost_mail_queue_jobs',
    help: 'Mails waiting to be sent. Absent while the store does not answer.',
    registers: [registry],
    collect() {
      return fill(mail, async () => [{ value: await readMailQueue(store, clock.now()) }])
    },
  })
  const settlements: Gauge = new Gauge({
    name: 'waypost_settlement_checks',
    help: 'Payments that sellers named, by state of their check. Absent while the store does not answer.',
    labelNames: ['state'],
    registers: [registry],
    collect() {
      return fill(settlements, async () => {
        const counted = await readSettlements(store)
        return CHECK_STATES.map((state) => ({ labels: { state }, value: counted.get(state) ?? 0 }))
      })
    },
  })
}

/** A store that is down leaves its figures out; a stale one would look like a true one. */
async function fill(
  gauge: Gauge,
  read: () => Promise<{ labels?: Record<string, string>; value: number }[]>,
): Promise<void> {
  gauge.reset()
  gauge.remove({})
  for (const { labels = {}, value } of await read().catch(() => [])) gauge.set(labels, value)
}

function addRelease(registry: Registry, { publishedAt, clock }: MetricsSources): void {
  const gauge: Gauge = new Gauge({
    name: 'waypost_release_age_seconds',
    help: 'Time since the release being served was published.',
    registers: [registry],
    collect() {
      gauge.set(Math.max(0, (clock.now() - publishedAt()) / 1000))
    },
  })
}

interface MetricsSources {
  store: Store
  clock: Clock
  clicks: () => ClickTally
  /** When the release being served was published (milliseconds since the epoch). */
  publishedAt: () => number
}

/** @returns mails that wait and are not yet too old to be sent */
async function readMailQueue({ db }: Store, now: number): Promise<number> {
  const { jobs } = await db
    .selectFrom('delivery')
    .where('channel', '=', 'mail')
    .where('expires_at', '>', now)
    .select(({ fn }) => fn.countAll().as('jobs'))
    .executeTakeFirstOrThrow()
  return Number(jobs)
}

/** @returns how many payment checks are in each state, without empty states */
async function readSettlements({ db }: Store): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('settlement_check')
    .groupBy('state')
    .select(({ fn }) => ['state', fn.countAll().as('checks')])
    .execute()
  return new Map(rows.map(({ state, checks }) => [state, Number(checks)]))
}

const FIXED = new Map<string, string>()
const PATTERNS: [RegExp, string][] = []
for (const [id, { path }] of [...Object.entries(ROUTES), ...Object.entries(DOORS)]) {
  if (!path.includes(':')) FIXED.set(path, id)
  else PATTERNS.push([toPattern(path), id])
}

/** Whatever has no row in the tables: pages, files, and what does not exist. */
const REST = 'page'

/**
 * The name a request is counted under: the id of its row in the route or door table, so that there
 * are as many names as rows, whatever is asked for.
 *
 * @example toRouteLabel('/api/v1/listings/x402.foo') → 'listing'
 */
export function toRouteLabel(path: string): string {
  return FIXED.get(path) ?? PATTERNS.find(([pattern]) => pattern.test(path))?.[1] ?? REST
}

function toPattern(path: string): RegExp {
  const rest = path === ROUTES.call.path ? '(?:/.*)?' : ''
  return new RegExp(`^${path.replaceAll('.', '\\.').replace(/:\w+/g, '[^/]+')}${rest}$`)
}
