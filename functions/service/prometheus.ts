import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { PROTOCOL_ENDPOINTS } from '../../src/domain/wire/protocol-table.ts'
import { RETENTION } from '../../src/domain/wire/retention.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import type { ClickTally } from '../features/feature.ts'
import { listVerdicts } from '../net/guard.ts'
import type { Clock } from '../ports/clock.ts'
import { countRows, type Store } from '../store/store.ts'
import type { Metrics } from './metrics.ts'

/** Upper bounds of the latency histogram (seconds), from searches up to relayed calls. */
const LATENCY_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Metrics in a registry of their own: prom-client's of the process, ours, and the ledger's. */
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
  addVerdicts(registry)
  addGauges(registry, sources)
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
    help: 'Requests, by route and status; "aborted" is an answer that its client did not read to the end.',
    labelNames: ['route', 'method', 'status'],
    registers: [registry],
  })
  const durations = new Histogram({
    name: 'waypost_http_request_duration_seconds',
    help: 'Time from starting a request until its answer was sent.',
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

/** Adds gauges that are read on each scrape, split by `label` where there are several. */
function addGauges(registry: Registry, { store, clock, clicks, publishedAt }: MetricsSources) {
  const add = (name: string, help: string, read: () => Promise<Figures>, label?: string) => {
    const gauge: Gauge = new Gauge({
      ...{ name, help, registers: [registry], labelNames: label === undefined ? [] : [label] },
      async collect() {
        gauge.reset()
        gauge.remove({})
        // A store that is down leaves its figures out; stale ones would look current.
        for (const [value, figure] of Object.entries(await read().catch(() => ({}))))
          gauge.set(label === undefined ? {} : { [label]: value }, figure)
      },
    })
  }
  add(
    'waypost_clicks',
    'Clicks of this process: written to the store, lost, waiting for it.',
    async () => ({ ...clicks() }),
    'state',
  )
  add(
    'waypost_mail_queue_jobs',
    'Mails waiting to be sent. Absent while the store does not answer.',
    async () => ({ jobs: await countMails(store, clock.now()) }),
  )
  add(
    'waypost_meter_lag_seconds',
    'Time since the newest block that the meter read of each chain. Absent while the store does not answer.',
    () => readLags(store, clock.now()),
    'network',
  )
  add(
    'waypost_release_age_seconds',
    'Time since the release being served was published.',
    async () => ({ age: Math.max(0, (clock.now() - publishedAt()) / 1000) }),
  )
}

/** One counter for each verdict of the guard: a refused address is an attack or our own mistake. */
function addVerdicts(registry: Registry) {
  const counter: Counter = new Counter({
    name: 'waypost_outbound_total',
    help: 'Connections that left or were refused, by purpose and verdict of the guard.',
    labelNames: ['purpose', 'verdict'],
    registers: [registry],
    collect() {
      counter.reset()
      for (const { purpose, verdict, count } of listVerdicts())
        counter.inc({ purpose, verdict }, count)
    },
  })
}

type Figures = Record<string, number>

interface MetricsSources {
  store: Store
  clock: Clock
  clicks: () => ClickTally
  /** When the release being served was published (milliseconds since the epoch). */
  publishedAt: () => number
}

/** Waiting mails that are not yet too old to be sent. */
function countMails({ db }: Store, now: number): Promise<number> {
  const mails = db.selectFrom('mail')
  return countRows(mails.where('created_at', '>', now - RETENTION.mail_hours * 3_600_000))
}

async function readLags({ db }: Store, now: number): Promise<Figures> {
  const rows = await db
    .selectFrom('meter_cursor')
    .groupBy('network')
    .where('read_until', '>', 0)
    .select(({ fn }) => ['network', fn.max('read_until').as('read_until')])
    .execute()
  return Object.fromEntries(
    rows.map(({ network, read_until }) => [network, Math.max(0, (now - read_until) / 1000)]),
  )
}

const FIXED = new Map<string, string>()
const PATTERNS: [RegExp, string][] = []
for (const [id, { path }] of [...Object.entries(ROUTES), ...Object.entries(PROTOCOL_ENDPOINTS)]) {
  if (!path.includes(':')) FIXED.set(path, id)
  else PATTERNS.push([toPattern(path), id])
}

/** Whatever has no row in the tables: pages, files, and what does not exist. */
const REST = 'page'

/**
 * The name a request is counted under: the id of its row in the route or door table.
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
