import { randomUUID } from 'node:crypto'
import { hostOf } from '../../src/domain/owners/shared-hosts.ts'
import type { ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import { applyRetention } from '../analytics/retention.ts'
import { measure } from '../meter/measure.ts'
import type { Parts } from '../parts/parts.ts'
import { createAsker, toUserAgent } from '../probe/ask.ts'
import { createEvidenceRows, probeContent } from '../probe/probe-content.ts'
import { reverifyClaims } from '../sellers/claims/reverify.ts'
import { recheckContracts } from '../sellers/payouts/recheck-contracts.ts'
import { takeLease } from '../store/lease.ts'

const STALE_MS = 24 * 3_600_000

/** Probes of one turn: an hour holds them, and the next turn goes on. */
const A_TURN = 2000

const AT_ONCE = 8

/** The lease is held on after so many probes: far within its time. */
const EXTEND_EVERY = 20

/** Work a running server does by itself, once an hour; each part is safe on several instances. */
export interface Chores {
  stop(): void
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
}

const FIRST_AFTER_MS = 60_000
const EVERY_MS = 3_600_000

export function startChores(parts: Parts): Chores {
  let running: Promise<void> = Promise.resolve()
  const stopping = new AbortController()
  const run = () => {
    running = running.then(() => runChores(parts, stopping.signal))
  }
  const first = setTimeout(run, FIRST_AFTER_MS)
  const timer = setInterval(run, EVERY_MS)
  first.unref()
  timer.unref()
  return {
    stop: () => {
      clearTimeout(first)
      clearInterval(timer)
      stopping.abort()
    },
    idle: () => running,
  }
}

export async function runChores(parts: Parts, signal: AbortSignal): Promise<void> {
  const { ledger, config, clock, log } = parts
  const run = async (work: () => Promise<void>) => {
    if (signal.aborted) return
    try {
      await work()
    } catch (error) {
      log.error('chores.failed', { reason: String(error) })
    }
  }
  await run(async () => {
    await applyRetention(ledger.store, clock.now())
    const { checked, failing, lapsed } = await reverifyClaims(parts)
    if (checked > 0) log.info('claims.reverified', { checked, failing, lapsed })
  })
  await run(async () => {
    const tally = await recheckContracts(parts)
    if (tally.checked > 0) log.info('payouts.rechecked', tally)
  })
  // The log says what it did, chain by chain.
  await run(async () => {
    const { store } = ledger
    const seeds = () =>
      [...parts.release().listings.values()].flatMap(({ id, url, payout_seeded = [] }) =>
        payout_seeded.map((payout) => ({ payout, listing_id: id, host: hostOf(url) ?? '' })),
      )
    const isAlone = store.dialect === 'sqlite'
    if (config.MEASURE)
      await measure({ store, config, clock, log, isAlone }, { since: null, seeds: seeds(), signal })
  })
  await run(async () => {
    const plans = () => parts.release().doorData.probePlans()
    if (config.PROBE) await probeAsChore({ ...parts, plans }, signal)
  })
}

type ProbeChoreParts = Pick<Parts, 'config' | 'resolver' | 'clock' | 'log'> & {
  ledger: Pick<Parts['ledger'], 'store'>
  plans: () => Promise<readonly ProbePlan[]>
}

/**
 * `PROBE=on`: asks the listings of the release that are due, one instance at a time, and keeps what
 * was seen in the ledger for the next build.
 */
export async function probeAsChore(parts: ProbeChoreParts, signal: AbortSignal): Promise<void> {
  const { config, resolver, clock, log } = parts
  const { store } = parts.ledger
  const now = () => clock.now()
  // With SQLite one server holds the state, so a lease left behind belongs to a dead process.
  const isAlone = store.dialect === 'sqlite'
  const lease = await takeLease(store, { name: 'probe', holder: randomUUID(), isAlone }, now())
  if (lease === null) return
  const stop = new AbortController()
  const asker = createAsker({
    resolver,
    allowPrivate: config.PRIVATE_TARGETS,
    userAgent: toUserAgent(config.BASE_URL),
  })
  let done = 0
  const holdOn = async () => {
    // The next owner continues from what is written down.
    if (!(await lease.extend(now()))) stop.abort()
  }
  try {
    const { probed, held_back, outcomes, is_offline } = await probeContent({
      evidence: createEvidenceRows(store, now),
      plans: await parts.plans(),
      staleMs: STALE_MS,
      limit: A_TURN,
      concurrency: AT_ONCE,
      asker,
      resolver,
      now,
      signal: AbortSignal.any([signal, stop.signal]),
      onProbe: () => {
        done += 1
        if (done % EXTEND_EVERY === 0)
          holdOn().catch((error) => log.error('probe.lease', { reason: String(error) }))
      },
    })
    if (probed > 0) log.info('probe.done', { probed, held_back, is_offline, ...outcomes })
  } finally {
    await asker.close()
    await lease.release()
  }
}
