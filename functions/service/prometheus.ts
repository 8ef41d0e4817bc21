import type { ServerResponse } from 'node:http'
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client'
import { RETENTION } from '../../src/domain/wire/vocabulary.ts'
import type { ClickTally } from '../features/feature.ts'
import { listVerdicts } from '../net/guard.ts'
import type { Clock } from '../ports/clock.ts'
import { countRows, type Store } from '../store/store.ts'

/** Upper bounds of the latency histogram (seconds), from searches up to relayed calls. */
const LATENCY_BUCKETS = [0.001, 0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]

/** Counters of a running service; none names a client, a listing or an address. */
export type Metrics = ReturnType<typeof createPrometheusMetrics>

/** Metrics in their own registry: prom-client's for the process, ours, and the ledger's. */
export function createPrometheusMetrics(sources: MetricsSources) {
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
    /**
     * @param outcome how a call through the relay ended: `seller_2xx` … `seller_5xx`, `seller_402`,
     *   or our problem's code
     */
    relayed: (outcome: string) => calls.inc({ outcome }),
    expose: async () => ({
      contentType: registry.contentType,
      text: await registry.metrics(),
    }),
  }
}

/** Counts a route's request and times it until its answer was sent. */
function createWatch(registry: Registry) {
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
  return (method: string, route: string, res: ServerResponse) => {
    const startedAt = performance.now()
    res.once('close', () => {
      const status = res.writableFinished ? String(res.statusCode) : 'aborted'
      requests.inc({ route, method: METHODS.has(method) ? method : 'other', status })
      durations.observe({ route }, (performance.now() - startedAt) / 1000)
    })
  }
}

const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'])

/** Adds gauges that are read on each scrape, split by `label` if there are several. */
function addGauges(registry: Registry, { store, clock, clicks, publishedAt }: MetricsSources) {
  const add = (name: string, help: string, read: () => Promise<Figures>, label?: string) => {
    const gauge: Gauge = new Gauge({
      ...{ name, help, registers: [registry], labelNames: label === undefined ? [] : [label] },
      async collect() {
        gauge.reset()
        gauge.remove({})
        // While the store is down its figures are left out: stale figures would look current.
        for (const [value, figure] of Object.entries(await read().catch(() => ({}))))
          gauge.set(label === undefined ? {} : { [label]: value }, figure)
      },
    })
  }
  add(
    'waypost_clicks',
    'Clicks in this process: written to the store, lost, or waiting to be written.',
    async () => ({ ...clicks() }),
    'state',
  )
  add(
    'waypost_mail_queue_jobs',
    'Emails waiting to be sent. Absent while the store does not answer.',
    async () => ({ jobs: await countMails(store, clock.now()) }),
  )
  add(
    'waypost_meter_lag_seconds',
    'Age of the newest block that the meter has read on each chain. Absent while the store does not answer.',
    () => readLags(store, clock.now()),
    'network',
  )
  add(
    'waypost_release_age_seconds',
    'Time since the release being served was published.',
    async () => ({ age: Math.max(0, (clock.now() - publishedAt()) / 1000) }),
  )
}

/** A counter for each of the guard's verdicts: a refused address is an attack or our own mistake. */
function addVerdicts(registry: Registry) {
  const counter: Counter = new Counter({
    name: 'waypost_outbound_total',
    help: 'Outgoing connections, allowed or refused, by purpose and verdict of the guard.',
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

/** Waiting emails that are still recent enough to be sent. */
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
