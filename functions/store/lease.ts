import type { Kysely } from 'kysely'
import type { Store } from './schema/store.ts'
import type { Tables } from './schema/tables.ts'

/** Work that one process at a time does, on whatever machine: held in the store, and let go in time. */
export interface Lease {
  /**
   * Holds it for as long again. Inside a transaction nobody can take it until that has ended.
   *
   * @returns false when it was lost meanwhile
   */
  extend(now: number, trx?: Kysely<Tables>): Promise<boolean>
  release(): Promise<void>
}

/** Time without a sign of life after which others may take a lease. */
export const LEASE_MS = 10 * 60_000

/**
 * Takes a lease, or says that somebody else holds it (null).
 *
 * @param holder a name nobody else has, such as a UUID
 * @param isAlone the former owner is dead, since this process holds the state's lock
 */
export async function takeLease(
  { db }: Store,
  { name, holder, isAlone = false }: { name: string; holder: string; isAlone?: boolean },
  now: number,
): Promise<Lease | null> {
  const taken = await db
    .insertInto('lease')
    .values({ name, holder, held_until: now + LEASE_MS })
    .onConflict((conflict) => {
      const taken = conflict.column('name').doUpdateSet({ holder, held_until: now + LEASE_MS })
      return isAlone ? taken : taken.where('lease.held_until', '<=', now)
    })
    .returning('holder')
    .execute()
  if (taken.length === 0) return null
  return {
    async extend(later, trx = db) {
      const kept = await trx
        .updateTable('lease')
        .set({ held_until: later + LEASE_MS })
        .where((eb) => eb.and({ name, holder }))
        .returning('holder')
        .execute()
      return kept.length > 0
    },
    async release() {
      await db.deleteFrom('lease').where('name', '=', name).where('holder', '=', holder).execute()
    },
  }
}
