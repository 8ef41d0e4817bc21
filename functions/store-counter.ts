import { createHash } from 'node:crypto'
import type { Clock } from './ports/clock.ts'
import type { Store } from './ports/store.ts'
import { type CreateCounter, createMemoryCounter, type LimitName } from './rate-limits.ts'

/**
 * `search` and `go` are counted by each instance for itself: a write to the store for each search
 * would cost more than the search. All others are few, and several instances share one budget.
 */
const COUNTED_BY_EACH: ReadonlySet<LimitName> = new Set<LimitName>(['search', 'go'])

/** A single machine counts in memory; with PostgreSQL the instances share what guards against abuse. */
export function createSharedCounters(store: Store, clock: Clock): CreateCounter {
  if (store.dialect === 'sqlite') return createMemoryCounter
  const createStored = createStoreCounters(store, clock)
  return (limit) =>
    COUNTED_BY_EACH.has(limit.name) ? createMemoryCounter(limit) : createStored(limit)
}

/**
 * Fixed windows counted in the store, so that several instances share one budget. Keys are hashed:
 * the table holds no address.
 */
export function createStoreCounters(store: Store, clock: Clock): CreateCounter {
  return ({ name, seconds }) => ({
    count: async (key) => {
      const now = clock.now()
      const row = await countAttempt(store, hashKey(name, key), now, seconds * 1000)
      return { used: row.tries, msBeforeReset: row.window_start + seconds * 1000 - now }
    },
  })
}

/** One statement, so that parallel requests cannot read the same count twice. */
async function countAttempt({ db }: Store, key: string, now: number, windowMs: number) {
  return db
    .insertInto('attempt')
    .values({ key, window_start: now, tries: 1 })
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        // A window that starts in the future was opened before the clock was set back: it is over.
        const isOver = eb.or([
          eb('attempt.window_start', '<=', now - windowMs),
          eb('attempt.window_start', '>', now),
        ])
        return {
          tries: eb
            .case()
            .when(isOver)
            .then(1)
            .else(eb('attempt.tries', '+', 1))
            .end(),
          window_start: eb.case().when(isOver).then(now).else(eb.ref('attempt.window_start')).end(),
        }
      }),
    )
    .returning(['tries', 'window_start'])
    .executeTakeFirstOrThrow()
}

function hashKey(name: LimitName, key: string): string {
  return `${name}:${createHash('sha256').update(key).digest('base64url')}`
}
