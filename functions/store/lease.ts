import type { Store } from './schema/store.ts'

/** @throws what the store says when it takes no write: `ping` of both stores */
export async function tryWriting({ db }: Pick<Store, 'db'>, now: number): Promise<void> {
  await db
    .insertInto('lease')
    .values({ name: 'ready', holder: '', held_until: now })
    .onConflict((conflict) => conflict.column('name').doUpdateSet({ held_until: now }))
    .execute()
}

/** Work that one process at a time does, on whatever machine: held in the store, and let go in time. */
export interface Lease {
  /** Holds it for as long again. @returns false when it was lost meanwhile */
  extend(now: number): Promise<boolean>
  release(): Promise<void>
}

/** Time without a sign of life after which others may take a lease. */
export const LEASE_MS = 10 * 60_000

/**
 * Takes a lease, or says that somebody else holds it (null).
 *
 * @param holder a name nobody else has, such as a UUID
 */
export async function takeLease(
  { db }: Store,
  { name, holder }: { name: string; holder: string },
  now: number,
): Promise<Lease | null> {
  const taken = await db
    .insertInto('lease')
    .values({ name, holder, held_until: now + LEASE_MS })
    .onConflict((conflict) =>
      conflict
        .column('name')
        .doUpdateSet({ holder, held_until: now + LEASE_MS })
        .where('lease.held_until', '<=', now),
    )
    .returning('holder')
    .execute()
  if (taken.length === 0) return null
  return {
    async extend(later) {
      const kept = await db
        .updateTable('lease')
        .set({ held_until: later + LEASE_MS })
        .where('name', '=', name)
        .where('holder', '=', holder)
        .returning('holder')
        .execute()
      return kept.length > 0
    },
    async release() {
      await db.deleteFrom('lease').where('name', '=', name).where('holder', '=', holder).execute()
    },
  }
}
