import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { inPieces, type Store, type Tables } from './store.ts'

/** Time without a heartbeat after which others may take a job. */
export const HOLD_MS = 10 * 60_000

interface JobQueueOptions {
  name: string
  /** Milliseconds since the epoch. */
  now: () => number
  /** Set if this process holds the state's lock, which means that a job's former holder is dead. */
  isAlone?: boolean
  holdMs?: number
}

/**
 * Background work, shared by all servers of a ledger. A job has a key (a host to probe, a chain to
 * read), and one server at a time does it; another server takes over a killed server's jobs when
 * their lease ends.
 */
export function createJobQueue(
  { db, dialect }: Store,
  { name, now, isAlone = false, holdMs = HOLD_MS }: JobQueueOptions,
) {
  const holder = randomUUID()
  const own = (keys: readonly string[], trx: Kysely<Tables> = db) =>
    trx
      .updateTable('job')
      .where((eb) => eb.and({ queue: name, holder }))
      .where('key', 'in', keys)
  return {
    /** Adds missing jobs, due at once. Known jobs in `urgent` become due too unless they are held. */
    async add(keys: readonly string[], urgent: ReadonlySet<string> = new Set()) {
      for (const some of inPieces(keys)) {
        const due = now()
        await db
          .insertInto('job')
          .values(some.map((key) => ({ queue: name, key, due, holder: '', held_until: 0 })))
          .onConflict((conflict) => conflict.doNothing())
          .execute()
        const hurried = some.filter((key) => urgent.has(key))
        if (hurried.length === 0) continue
        await db
          .updateTable('job')
          .set({ due })
          .where('queue', '=', name)
          .where('key', 'in', hurried)
          .where('due', '>', due)
          .execute()
      }
    },
    /** Takes jobs that are due and that nobody holds, longest-waiting first. */
    async take(limit: number) {
      const at = now()
      const free = db
        .selectFrom('job as free')
        .select('free.key')
        .where('free.queue', '=', name)
        .where('free.due', '<=', at)
        .$if(!isAlone, (query) => query.where('free.held_until', '<=', at))
        .$if(isAlone, (query) => query.where('free.holder', '!=', holder))
        .orderBy('free.due')
        .limit(limit)
        // Servers that take jobs at the same time get different jobs, and no server waits for another.
        .$if(dialect === 'postgres', (query) => query.forUpdate().skipLocked())
      const taken = await db
        // Evaluated once: otherwise PostgreSQL may take more than the limit.
        .with(
          (cte) => cte('due').materialized(),
          () => free,
        )
        .updateTable('job')
        .set({ holder, held_until: at + holdMs })
        .where('queue', '=', name)
        .where('key', 'in', (eb) => eb.selectFrom('due').select('due.key'))
        .returning('key')
        .execute()
      return taken.map(({ key }) => key)
    },
    /**
     * Renews the lease on jobs. Inside a transaction nobody else can take them until it ends.
     * @returns false if one of the jobs was lost meanwhile
     */
    async hold(keys: readonly string[], trx?: Kysely<Tables>) {
      const kept = await own(keys, trx)
        .set({ held_until: now() + holdMs })
        .returning('key')
        .execute()
      return kept.length === keys.length
    },
    /** Releases jobs until they are due again; null removes them. Jobs that were lost stay as they are. */
    async finish(keys: readonly string[], due: number | null) {
      if (keys.length === 0) return
      if (due !== null) await own(keys).set({ due, holder: '', held_until: 0 }).execute()
      else
        await db
          .deleteFrom('job')
          .where((eb) => eb.and({ queue: name, holder }))
          .where('key', 'in', keys)
          .execute()
    },
  }
}
