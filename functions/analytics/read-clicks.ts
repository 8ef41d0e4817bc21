import { sql } from 'kysely'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import type { Store } from '../store/schema/store.ts'
import type { UsageDayTable } from '../store/schema/tables.ts'

/** Counted clicks (no bots) of a listing on a day from a source; '' where the click named none. */
export interface ClickCount {
  listing_id: string
  day: number
  src: ClickSource | ''
  clicks: number
}

const HOURS_A_DAY = 24
const IDS_A_STATEMENT = 500

/**
 * Single clicks and folded counts together, from `sinceDay` on.
 *
 * @param listingIds null for every listing
 */
export async function readClickCounts(
  store: Store,
  listingIds: readonly string[] | null,
  sinceDay: number,
): Promise<ClickCount[]> {
  if (listingIds === null) return readChunk(store, null, sinceDay)
  const counts: ClickCount[] = []
  for (let at = 0; at < listingIds.length; at += IDS_A_STATEMENT) {
    const some = listingIds.slice(at, at + IDS_A_STATEMENT)
    for (const count of await readChunk(store, some, sinceDay)) counts.push(count)
  }
  return counts
}

export interface UsageCount {
  listing_id: string
  kind: UsageDayTable['kind']
  src: ClickSource | ''
  uses: number
}

export async function readUsageCounts(
  { db }: Store,
  listingIds: readonly string[] | null,
  sinceDay: number,
): Promise<UsageCount[]> {
  if (listingIds?.length === 0) return []
  return db
    .selectFrom('usage_day')
    .select(({ fn }) => ['listing_id', 'kind', 'src', fn.sum<number>('uses').as('uses')])
    .where('day', '>=', sinceDay)
    .$if(listingIds !== null, (query) => query.where('listing_id', 'in', listingIds ?? []))
    .groupBy(['listing_id', 'kind', 'src'])
    .orderBy('listing_id')
    .execute()
}

async function readChunk(
  { db }: Store,
  ids: readonly string[] | null,
  sinceDay: number,
): Promise<ClickCount[]> {
  const single = db
    .selectFrom('click')
    .select(({ fn, ref }) => [
      'listing_id',
      sql<number>`${ref('hour')} / ${sql.lit(HOURS_A_DAY)}`.as('day'),
      fn.coalesce('src', sql<''>`''`).as('src'),
      fn.countAll<number>().as('clicks'),
    ])
    .where('hour', '>=', sinceDay * HOURS_A_DAY)
    .where('bot', '=', 0)
    .$if(ids !== null, (query) => query.where('listing_id', 'in', ids ?? []))
    .groupBy(['listing_id', 'day', 'src'])
  const folded = db
    .selectFrom('click_day')
    .select(['listing_id', 'day', 'src', 'clicks'])
    .where('day', '>=', sinceDay)
    .$if(ids !== null, (query) => query.where('listing_id', 'in', ids ?? []))
  return db
    .selectFrom(single.unionAll(folded).as('both'))
    .select(({ fn }) => ['listing_id', 'day', 'src', fn.sum<number>('clicks').as('clicks')])
    .groupBy(['listing_id', 'day', 'src'])
    .orderBy('listing_id')
    .orderBy('day')
    .execute()
}
