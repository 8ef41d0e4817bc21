import type { Log } from '../ports/log.ts'
import type { Click, Store } from '../store/store.ts'

/**
 * Group commit for clicks: those that arrive together share one fsync, and each waits for it, so a
 * redirect that a visitor received is in the store. A store that fails or hangs never costs the
 * visitor the redirect: after `PATIENCE_MS` it leaves anyway, and lost clicks are counted.
 */
export type ClickWriter = ReturnType<typeof createClickWriter>

export interface ClickTally {
  written: number
  /** Redirected but not in the store. */
  lost: number
  waiting: number
}

/** How long a group may gather while clicks are frequent; a lone click leaves at once. */
const GATHER_MS = 3
const PATIENCE_MS = 1_000
const MAX_GROUP = 5_000
const MAX_WAITING = 50_000
const LOG_EVERY_MS = 10_000

interface Group {
  clicks: Click[]
  settled: Promise<void>
  settle: () => void
}

/** @param patienceMs how long a redirect waits for its click (milliseconds) */
export function createClickWriter(
  store: Pick<Store, 'appendClicks'>,
  log: Log,
  patienceMs: number = PATIENCE_MS,
) {
  const groups: Group[] = []
  const tally: ClickTally = { written: 0, lost: 0, waiting: 0 }
  let lastGroupSize = 0
  let isRunning = false
  let isStuck = false
  let running: Promise<void> = Promise.resolve()
  const reportLoss = createLossReport(log, tally)

  return {
    /** Resolves when the click is durable, or when waiting longer would not help. Never rejects. */
    write(click: Click): Promise<void> {
      if (tally.waiting >= MAX_WAITING) {
        tally.lost += 1
        reportLoss('too many clicks wait for the store')
        return Promise.resolve()
      }
      const group = openGroup(groups)
      group.clicks.push(click)
      tally.waiting += 1
      if (!isRunning) running = run()
      return isStuck ? Promise.resolve() : group.settled
    },
    tally: (): ClickTally => ({ ...tally }),
    close: async () => {
      while (groups.length > 0 || isRunning) await running
    },
  }

  async function run(): Promise<void> {
    isRunning = true
    await gather(lastGroupSize)
    for (let group = groups.shift(); group !== undefined; group = groups.shift()) {
      lastGroupSize = group.clicks.length
      await append(group)
      if (groups.length > 0 && lastGroupSize > 1) await gather(lastGroupSize)
    }
    isRunning = false
  }

  async function append(group: Group): Promise<void> {
    const size = group.clicks.length
    const patience = setTimeout(() => {
      isStuck = true
      for (const late of [group, ...groups]) late.settle()
    }, patienceMs)
    try {
      await store.appendClicks(group.clicks)
      tally.written += size
    } catch (error) {
      tally.lost += size
      reportLoss(error instanceof Error ? error.message : String(error))
    }
    clearTimeout(patience)
    isStuck = false
    tally.waiting -= size
    group.settle()
  }
}

function openGroup(groups: Group[]): Group {
  const last = groups.at(-1)
  if (last !== undefined && last.clicks.length < MAX_GROUP) return last
  const { promise, resolve } = Promise.withResolvers<void>()
  const group = { clicks: [], settled: promise, settle: resolve }
  groups.push(group)
  return group
}

function gather(lastGroupSize: number): Promise<unknown> {
  return new Promise((resolve) =>
    lastGroupSize > 1 ? setTimeout(resolve, GATHER_MS) : setImmediate(resolve),
  )
}

function createLossReport(log: Log, tally: ClickTally): (reason: string) => void {
  let reportedAt = Number.NEGATIVE_INFINITY
  return (reason) => {
    if (performance.now() - reportedAt < LOG_EVERY_MS) return
    reportedAt = performance.now()
    log.error('go.clicks_lost', { lost: tally.lost, reason })
  }
}
