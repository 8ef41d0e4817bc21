import { hostOf } from '../../src/domain/owners/shared-hosts.ts'
import { applyRetention } from '../analytics/retention.ts'
import { measure } from '../meter/measure.ts'
import type { Parts } from '../parts/parts.ts'
import { probeAsChore } from '../probe/probe-chore.ts'
import { reverifyClaims } from '../sellers/claims/reverify.ts'

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

/** One turn of every chore that is on. */
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
