import { sql } from 'kysely'
import type { DeliveryTable, Store } from '../store/schema/store.ts'

/** Slots for deliveries on a server. */
export interface Places {
  free(): number
  /** At most for one host. */
  ofHost: number
  /** Hosts without a free slot. */
  fullHosts(): string[]
}

const LEASE_MS = 5 * 60_000

const IS_EARLIER = sql<boolean>`other.kind = due.kind
  and (other.created_at, other.id) < (due.created_at, due.id)`
const IS_NEWS = sql<number>`case when due.kind = 'watch_news' then 1 else 0 end`
const HAS_FAILED = sql<number>`case when due.attempts > 0 then 1 else 0 end`

/**
 * Leases as many as there are slots. A lane has its own clock: its oldest delivery of a kind goes
 * first, and one that waits for its next try delays only the rest of its lane. Hosts take turns; at
 * one host, deliveries that never failed go first, and news comes last.
 *
 * The outer condition is judged again under the row's lock, so two instances never share a job.
 */
export async function leaseDeliveries(
  { db }: Store,
  channel: DeliveryTable['channel'],
  now: number,
  { free, fullHosts, ofHost }: Places,
): Promise<DeliveryTable[]> {
  if (free() === 0) return []
  const full = fullHosts()
  const due = db
    .selectFrom('delivery as due')
    .where('due.channel', '=', channel)
    .where('due.lease_until', '<=', now)
    .where('due.not_before', '<=', now)
    .where('due.expires_at', '>', now)
    .$if(full.length > 0, (query) => query.where('due.host', 'not in', full))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('delivery as other')
            .select('other.id')
            .whereRef('other.lane', '=', 'due.lane')
            .where('other.expires_at', '>', now)
            .where((eb) => eb.or([eb('other.lease_until', '>', now), IS_EARLIER])),
        ),
      ),
    )
    .select(({ fn }) => [
      'due.id',
      'due.not_before',
      IS_NEWS.as('is_news'),
      fn
        .agg<number>('row_number')
        .over((over) =>
          over
            .partitionBy('due.host')
            .orderBy(IS_NEWS)
            .orderBy(HAS_FAILED)
            .orderBy('due.not_before'),
        )
        .as('turn'),
    ])
  const next = db
    .selectFrom(due.as('waiting'))
    .select('waiting.id')
    .where('waiting.turn', '<=', ofHost)
    .orderBy('waiting.is_news')
    .orderBy('waiting.turn')
    .orderBy('waiting.not_before')
    .limit(free())
  return db
    .updateTable('delivery')
    .set({ lease_until: now + LEASE_MS })
    .where('id', 'in', next)
    .where('lease_until', '<=', now)
    .returningAll()
    .execute()
}
