import { applyRetention } from '../analytics/retention.ts'
import type { Parts } from '../parts/parts.ts'
import { reverifyClaims } from '../sellers/claims/reverify.ts'

/** Work a running server does by itself, once an hour; both parts are safe on several instances. */
export interface Chores {
  stop(): void
  /** Resolves when nothing is under way. */
  idle(): Promise<void>
}

const FIRST_AFTER_MS = 60_000
const EVERY_MS = 3_600_000

export function startChores(parts: Parts): Chores {
  let running: Promise<void> = Promise.resolve()
  const run = () => {
    running = running.then(() => runChores(parts))
  }
  const first = setTimeout(run, FIRST_AFTER_MS)
  const timer = setInterval(run, EVERY_MS)
  first.unref()
  timer.unref()
  return {
    stop: () => {
      clearTimeout(first)
      clearInterval(timer)
    },
    idle: () => running,
  }
}

async function runChores(parts: Parts): Promise<void> {
  const { ledger, clock, log } = parts
  try {
    await applyRetention(ledger.store, clock.now())
    const { checked, failing, lapsed } = await reverifyClaims(parts)
    if (checked > 0) log.info('claims.reverified', { checked, failing, lapsed })
  } catch (error) {
    log.error('chores.failed', { reason: String(error) })
  }
}
