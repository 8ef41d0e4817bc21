import type { AcceptedDispute } from '../../src/domain/trust/ledger-facts.ts'
import { RETENTION } from '../../src/domain/wire/retention.ts'
import type { Store } from '../store/schema/store.ts'

const DAY_MS = 86_400_000

/** What people accepted lately, by listing. */
export async function readAcceptedDisputes(
  { db }: Store,
  now: number,
): Promise<Map<string, AcceptedDispute[]>> {
  const rows = await db
    .selectFrom('dispute')
    .select(['listing_id', 'note', 'settled_at'])
    .where('state', '=', 'accepted')
    .where('settled_at', '>=', now - RETENTION.dispute_days * DAY_MS)
    .orderBy('listing_id')
    .orderBy('settled_at')
    .orderBy('id')
    .execute()
  const byListing = Map.groupBy(rows, ({ listing_id }) => listing_id)
  return new Map(
    [...byListing].map(([id, own]) => [
      id,
      own.map(({ note, settled_at }) => ({ at: settled_at ?? 0, note: note ?? '' })),
    ]),
  )
}
