import { hostOf as hostOfUrl } from '../../src/domain/owners/shared-hosts.ts'
import type { ProbePlan } from '../../src/domain/probe/plan.ts'
import { applyRetention } from '../analytics/retention.ts'
import { createHttpClient, type HttpClient } from '../net/http-client.ts'
import type { Parts } from '../parts/parts.ts'
import { createEvidenceRows, hostOf, probeContent } from '../probes/schedule.ts'
import type { Receipts } from '../receipts/receipts.ts'
import { reverifyClaims } from '../sellers/claim-checks.ts'
import { notifyOwners } from '../sellers/letters.ts'
import { recheckContracts } from '../sellers/payouts.ts'
import { createJobQueue, HOLD_MS, type JobQueue } from '../store/jobs.ts'
import type { Store } from '../store/store.ts'
import { hasHintSince } from '../trust/hints.ts'
import { measure } from '../trust/measure.ts'

const STALE_MS = 24 * 3_600_000

/** Time limit of one turn: other chores wait behind it, and the next turn continues. */
const CHORE_TIME_LIMIT_MS = 50 * 60_000

/** Hosts that a server leases at once, and listings that it probes at once. */
const HOSTS_AT_ONCE = 50
const AT_ONCE = 8

const FIRST_AFTER_MS = 60_000
const EVERY_MS = 3_600_000
/** How often the meter looks where relayed calls named payments, and for how long after them. */
const LOOK_EVERY_MS = 120_000
const LOOK_FOR_MS = 600_000
/** How often the ledger is asked for the payments of calls whose answer named none. */
const FIND_EVERY_MS = 60_000

type WaitingCalls = Pick<Receipts, 'findPayments' | 'hasWaitedSince'>

/** Work a running server does by itself, once an hour; each part is safe on several instances. */
export function startChores(parts: Parts, receipts: WaitingCalls) {
  let running: Promise<void> = Promise.resolve()
  let looking: Promise<void> = Promise.resolve()
  let finding: Promise<void> = Promise.resolve()
  const stopping = new AbortController()
  const run = () => {
    running = running.then(() => runChores(parts, stopping.signal))
  }
  const look = () => {
    const chore: Chore = (all, signal) => measureWhereHinted(all, receipts, signal)
    looking = looking.then(() => runChore(parts, stopping.signal, chore))
  }
  const find = () => {
    finding = finding.then(() => runChore(parts, stopping.signal, receipts.findPayments))
  }
  const timers = [
    setTimeout(run, FIRST_AFTER_MS),
    setInterval(run, EVERY_MS),
    setInterval(look, LOOK_EVERY_MS),
    setInterval(find, FIND_EVERY_MS),
  ]
  for (const timer of timers) timer.unref()
  return {
    stop: () => {
      for (const timer of timers) clearInterval(timer)
      stopping.abort()
    },
    /** Resolves when nothing is running. */
    idle: async () => void (await Promise.all([running, looking, finding])),
  }
}

type Chore = (parts: Parts, signal: AbortSignal) => Promise<void>

async function runChore(parts: Parts, signal: AbortSignal, chore: Chore): Promise<void> {
  if (signal.aborted) return
  try {
    await chore(parts, signal)
  } catch (error) {
    parts.log.error('chores.failed', { reason: String(error) })
  }
}

export async function runChores(parts: Parts, signal: AbortSignal): Promise<void> {
  for (const chore of [tidyUp, tellOwners, recheckPayouts, measureAsChore, probeWhereAsked])
    await runChore(parts, signal, chore)
}

async function tidyUp(parts: Parts): Promise<void> {
  const { ledger, clock, log } = parts
  await applyRetention(ledger.store, clock.now())
  const { checked, failing, lapsed } = await reverifyClaims(parts)
  if (checked > 0) log.info('claims.reverified', { checked, failing, lapsed })
}

async function tellOwners(parts: Parts): Promise<void> {
  const mails = await notifyOwners(parts)
  if (mails > 0) parts.log.info('owners.told', { mails })
}

async function recheckPayouts(parts: Parts): Promise<void> {
  const tally = await recheckContracts(parts)
  if (tally.checked > 0) parts.log.info('payouts.rechecked', tally)
}

/** `MEASURE=on`: the log says what it did, chain by chain. */
async function measureAsChore(parts: Parts, signal: AbortSignal): Promise<void> {
  const { config, clock, log, ledger, release } = parts
  const { store } = ledger
  if (!config.MEASURE) return
  const published = [...release().listings.values()].flatMap(({ id, url, payout }) =>
    payout.map((one) => ({ payout: one, listing_id: id, host: hostOfUrl(url) ?? '' })),
  )
  const isAlone = store.dialect === 'sqlite'
  await measure({ store, config, clock, log, isAlone }, { since: null, published, signal })
}

/**
 * The meter reads at once after a relayed call named a payment, or named none and carried what its
 * payer signed, until that is surely confirmed.
 */
export async function measureWhereHinted(
  parts: Parts,
  receipts: Pick<WaitingCalls, 'hasWaitedSince'>,
  signal: AbortSignal,
): Promise<void> {
  const since = parts.clock.now() - LOOK_FOR_MS
  if (receipts.hasWaitedSince(since) || (await hasHintSince(parts.ledger.store, since)))
    await measureAsChore(parts, signal)
}

async function probeWhereAsked(parts: Parts, signal: AbortSignal): Promise<void> {
  const plans = () => parts.release().doorData.probePlans()
  if (parts.config.PROBE) await probeAsChore({ ...parts, plans }, signal)
}

type ProbeChoreParts = Pick<Parts, 'config' | 'resolver' | 'clock' | 'log'> & {
  ledger: Pick<Parts['ledger'], 'store'>
  plans: () => Promise<readonly ProbePlan[]>
  /** Time without a heartbeat after which others may take over this server's hosts. */
  holdMs?: number
}

/** `PROBE=on`: probes due listings, for the next build. One server at a time probes a host. */
export async function probeAsChore(parts: ProbeChoreParts, signal: AbortSignal): Promise<void> {
  const { config, resolver, clock, holdMs = HOLD_MS } = parts
  const { store } = parts.ledger
  const now = () => clock.now()
  // With SQLite one server holds the state.
  const isAlone = store.dialect === 'sqlite'
  const queue = createJobQueue(store, { name: 'probe', now, isAlone, holdMs })
  const byHost = Map.groupBy(await parts.plans(), (plan) => hostOf(plan) || 'nobody')
  await queue.add([...byHost.keys()], await findNewHosts(store, byHost))
  await using client = createHttpClient('probe', { config, resolver })
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
  return now() + (held_back > 0 ? EVERY_MS : STALE_MS)
}

/** Hosts with a listing that was never probed. */
async function findNewHosts({ db }: Store, byHost: ReadonlyMap<string, readonly ProbePlan[]>) {
  const rows = await db.selectFrom('probe_evidence').select('listing_id').execute()
  const asked = new Set(rows.map(({ listing_id }) => listing_id))
  const isNew = (plans: readonly ProbePlan[]) => plans.some(({ id }) => !asked.has(id))
  return new Set([...byHost].flatMap(([host, plans]) => (isNew(plans) ? [host] : [])))
}
