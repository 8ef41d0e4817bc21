import type { Chore } from '../features/feature.ts'
import type { Log } from '../ports/log.ts'

const FIRST_AFTER_MS = 60_000

/** Work a running server does by itself; each part is safe on several instances. */
export function startChores(chores: readonly Chore[], log: Log) {
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
    /** Resolves when nothing is running. */
    idle: async () => void (await Promise.all(running.values())),
  }
}

/** One after another: what fails is logged, and keeps none of the others from running. */
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
