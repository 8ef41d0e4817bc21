import type { ProbePlan } from '../../src/domain/probe/plan.ts'
import { HOUR_MS } from '../../src/domain/wire/shapes.ts'
import type { Parts } from '../features/feature.ts'
import { createHttpClient, type HttpClient } from '../net/http-client.ts'
import { createJobQueue, HOLD_MS, type JobQueue } from '../store/jobs.ts'
import type { Store } from '../store/store.ts'
import { createEvidenceRows, hostOf, probeContent } from './schedule.ts'

const STALE_MS = 24 * HOUR_MS

/** Time limit of one turn: other chores wait behind it, and the next turn continues. */
const CHORE_TIME_LIMIT_MS = 50 * 60_000

/** Hosts that a server leases at once, and listings that it probes at once. */
const HOSTS_AT_ONCE = 50
const AT_ONCE = 8

type ProbeChoreParts = Pick<Parts, 'config' | 'resolver' | 'sign' | 'clock' | 'log'> & {
  ledger: Pick<Parts['ledger'], 'store'>
  plans: () => Promise<readonly ProbePlan[]>
  /** Time without a heartbeat after which others may take over this server's hosts. */
  holdMs?: number
}

/** `PROBE=on`: probes due listings, for the next build. One server at a time probes a host. */
export async function probeAsChore(parts: ProbeChoreParts, signal: AbortSignal): Promise<void> {
  const { config, resolver, sign, clock, holdMs = HOLD_MS } = parts
  const { store } = parts.ledger
  const now = () => clock.now()
  // With SQLite one server holds the state.
  const isAlone = store.dialect === 'sqlite'
  const queue = createJobQueue(store, { name: 'probe', now, isAlone, holdMs })
  const byHost = Map.groupBy(await parts.plans(), (plan) => hostOf(plan) || 'nobody')
  await queue.add([...byHost.keys()], await findNewHosts(store, byHost))
  await using client = createHttpClient('probe', { config, resolver, sign })
  const end = now() + CHORE_TIME_LIMIT_MS
  while (!signal.aborted && now() < end) {
    const hosts = await queue.take(HOSTS_AT_ONCE)
    if (hosts.length === 0) return
    const isGone = (host: string) => !byHost.has(host)
    await queue.finish(hosts.filter(isGone), null)
    const known = hosts.filter((host) => !isGone(host))
    const plans = known.flatMap((host) => byHost.get(host) ?? [])
    await queue.finish(
      known,
      await probeHosts(parts, { queue, hosts: known, plans, client, signal }),
    )
  }
}

interface HostsProbe {
  queue: JobQueue
  hosts: readonly string[]
  plans: readonly ProbePlan[]
  client: HttpClient
  signal: AbortSignal
}

/** @returns when the hosts are due again */
async function probeHosts(
  { ledger, resolver, clock, log, holdMs = HOLD_MS }: ProbeChoreParts,
  { queue, hosts, plans, client, signal }: HostsProbe,
): Promise<number> {
  const now = () => clock.now()
  const lost = new AbortController()
  const holding = setInterval(() => {
    // The next holder continues from the stored state.
    const onHeld = (isHeld: boolean) => isHeld || lost.abort()
    queue.hold(hosts).then(onHeld, (error) => log.error('probe.hold', { reason: String(error) }))
  }, holdMs / 5)
  const either = AbortSignal.any([signal, lost.signal])
  const { probed, held_back, outcomes, is_offline } = await probeContent({
    evidence: createEvidenceRows(ledger.store, now, STALE_MS),
    plans,
    staleMs: STALE_MS,
    limit: Number.POSITIVE_INFINITY,
    concurrency: AT_ONCE,
    client,
    resolver,
    now,
    signal: either,
    onProbe: () => {},
  }).finally(() => clearInterval(holding))
  if (probed > 0) log.info('probe.done', { probed, held_back, is_offline, ...outcomes })
  // The next process that leases the host does the rest.
  if (either.aborted) return now()
  return now() + (held_back > 0 ? HOUR_MS : STALE_MS)
}

/** Hosts with a listing that was never probed. */
async function findNewHosts({ db }: Store, byHost: ReadonlyMap<string, readonly ProbePlan[]>) {
  const rows = await db.selectFrom('probe_evidence').select('listing_id').execute()
  const known = new Set(rows.map(({ listing_id }) => listing_id))
  const isNew = (plans: readonly ProbePlan[]) => plans.some(({ id }) => !known.has(id))
  return new Set([...byHost].flatMap(([host, plans]) => (isNew(plans) ? [host] : [])))
}
