import { createHash } from 'node:crypto'
import { type Clock, within } from '../ports/clock.ts'
import {
  type Counter,
  type CreateCounter,
  createMemoryCounter,
  type LimitName,
} from '../server/rate-limits.ts'
import { outsideOfRequests, type Store } from './store.ts'

/** A single machine counts in memory; with PostgreSQL all instances share one budget. */
export function createSharedCounters(
  store: Store,
  clock: Clock,
  patienceMs: number = PATIENCE_MS,
): CreateCounter {
  if (store.dialect === 'sqlite') return createMemoryCounter
  return createStoreCounters(store, clock, patienceMs)
}

/** A store slower than this must not delay a search or a redirect (milliseconds). */
const PATIENCE_MS = 1_000
/** A slow store is not asked again for this long: a sign-in counts five times (milliseconds). */
const REST_MS = 2_000

/**
 * Fixed windows counted in the store. Keys are hashed: the table holds no address. Requests that
 * arrive while a statement is running share the next one, so that a busy instance costs the store a
 * few statements a second. While the store is down or slow, each instance counts on its own.
 *
 * @param patienceMs milliseconds after which a store is slow
 */
export function createStoreCounters(
  store: Store,
  clock: Clock,
  patienceMs: number = PATIENCE_MS,
): CreateCounter {
  let restsUntil = Number.NEGATIVE_INFINITY
  const ask = async <T>(shared: () => Promise<T>, own: () => Promise<T>): Promise<T> => {
    if (performance.now() < restsUntil) return own()
    return within(patienceMs, outsideOfRequests(shared)).catch(() => {
      restsUntil = performance.now() + REST_MS
      return own()
    })
  }
  return (limit) => {
    const own = createMemoryCounter(limit)
    const shared = createBatchedCounter(store, clock, limit)
    return {
      count: (key) =>
        ask(
          () => shared.count(key),
          () => own.count(key),
        ),
      peek: (key) =>
        ask(
          () => shared.peek(key),
          () => own.peek(key),
        ),
    }
  }
}

interface Attempt {
  tries: number
  window_start: number
}

/** Requests that wait for the next statement, by hashed key, and the row it will return. */
interface Batch {
  tries: Map<string, number>
  rows: Promise<Map<string, Attempt>>
}

function createBatchedCounter(
  store: Store,
  clock: Clock,
  { name, seconds }: { name: LimitName; seconds: number },
): Counter {
  const windowMs = seconds * 1000
  let open: Batch | null = null
  let running: Promise<unknown> = Promise.resolve()
  const openBatch = (): Batch => {
    const tries = new Map<string, number>()
    const rows = running.then(() => {
      open = null
      return countTries(store, tries, clock.now(), windowMs)
    })
    running = rows.catch(() => {})
    return { tries, rows }
  }
  return {
    peek: async (key) => {
      const { tries } = (await store.db
        .selectFrom('attempt')
        .select('tries')
        .where('key', '=', hashKey(name, key))
        .where('window_start', '>', clock.now() - windowMs)
        .executeTakeFirst()) ?? { tries: 0 }
      return tries
    },
    count: async (key) => {
      const hashed = hashKey(name, key)
      open ??= openBatch()
      const { tries, rows } = open
      const mine = (tries.get(hashed) ?? 0) + 1
      tries.set(hashed, mine)
      const row = (await rows).get(hashed)
      if (row === undefined) throw new Error('the store counted another key')
      // Of n requests in one statement the first took the first of the n counts, and so on.
      const used = row.tries - (tries.get(hashed) ?? mine) + mine
      return { used, msBeforeReset: row.window_start + windowMs - clock.now() }
    },
  }
}

/** One statement, so that parallel requests cannot read the same count; sorted against deadlocks. */
async function countTries(
  { db }: Store,
  tries: ReadonlyMap<string, number>,
  now: number,
  windowMs: number,
): Promise<Map<string, Attempt>> {
  const values = [...tries].sort().map(([key, n]) => ({ key, window_start: now, tries: n }))
  const rows = await db
    .insertInto('attempt')
    .values(values)
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        // A window that starts in the future was opened before the clock was set back: it is over.
        const isOver = eb.or([
          eb('attempt.window_start', '<=', now - windowMs),
          eb('attempt.window_start', '>', now + CLOCK_SKEW_MS),
        ])
        const choose = (column: 'tries' | 'window_start') =>
          eb
            .case()
            .when(isOver)
            .then(eb.ref(`excluded.${column}`))
        return {
          tries: choose('tries')
            .else(eb('attempt.tries', '+', eb.ref('excluded.tries')))
            .end(),
          window_start: choose('window_start').else(eb.ref('attempt.window_start')).end(),
        }
      }),
    )
    .returning(['key', 'tries', 'window_start'])
    .execute()
  return new Map(rows.map(({ key, ...attempt }) => [key, attempt]))
}

/** Instances' clocks may differ by this much without ending each other's windows. */
const CLOCK_SKEW_MS = 5_000

function hashKey(name: LimitName, key: string): string {
  return `${name}:${createHash('sha256').update(key).digest('base64url')}`
}
