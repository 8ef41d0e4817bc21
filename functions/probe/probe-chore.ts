import { randomUUID } from 'node:crypto'
import type { ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'
import type { Parts } from '../parts/parts.ts'
import { takeLease } from '../store/lease.ts'
import { createAsker, toUserAgent } from './ask.ts'
import { createEvidenceRows } from './evidence-rows.ts'
import { probeContent } from './probe-content.ts'

const STALE_MS = 24 * 3_600_000
/** Probes of one turn: an hour holds them, and the next turn goes on. */
const A_TURN = 2000
const AT_ONCE = 8
/** The lease is held on after so many probes: far within its time. */
const EXTEND_EVERY = 20

export type ProbeChoreParts = Pick<Parts, 'config' | 'resolver' | 'clock' | 'log'> & {
  ledger: Pick<Parts['ledger'], 'store'>
  /** How the listings of the release are asked. */
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
    allowPrivate: config.UNSAFE_ALLOW_PRIVATE_TARGETS,
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
