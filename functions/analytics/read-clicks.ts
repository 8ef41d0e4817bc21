import { type Kysely, sql } from 'kysely'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import type { Store, Tables, UsageDayTable } from '../store/store.ts'
import { HOURS_A_DAY } from '../store/store.ts'

/** Counted clicks (no bots) of a listing on a day from a source; '' where the click named none. */
export interface ClickCount {
  listing_id: string
  day: number
  src: ClickSource | ''
  clicks: number
}

/** Single clicks as counts: columns in the order of `click_day`. */
export function countClicks(db: Kysely<Tables>) {
  return db
    .selectFrom('click')
    .select(({ fn, ref }) => [
      sql<number>`${ref('hour')} / ${sql.lit(HOURS_A_DAY)}`.as('day'),
      'listing_id',
      fn.coalesce('src', sql<''>`''`).as('src'),
      fn.countAll<number>().as('clicks'),
    ])
    .where('bot', '=', 0)
    .groupBy(['day', 'listing_id', 'src'])
}

/** Single clicks and folded counts together, from `sinceDay` on; null means all listings. */
export async function readClickCounts(
  { db }: Store,
  listingIds: readonly string[] | null,
  sinceDay: number,
): Promise<ClickCount[]> {
  if (listingIds?.length === 0) return []
  const single = countClicks(db)
    .where('hour', '>=', sinceDay * HOURS_A_DAY)
    .$if(listingIds !== null, (query) => query.where('listing_id', 'in', listingIds ?? []))
  const folded = db
    .selectFrom('click_day')
    .select(['day', 'listing_id', 'src', 'clicks'])
    .where('day', '>=', sinceDay)
    .$if(listingIds !== null, (query) => query.where('listing_id', 'in', listingIds ?? []))
  return db
    .selectFrom(single.unionAll(folded).as('both'))
    .select(({ fn }) => ['listing_id', 'day', 'src', fn.sum<number>('clicks').as('clicks')])
    .groupBy(['listing_id', 'day', 'src'])
    .orderBy('listing_id')
    .orderBy('day')
    .execute()
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
