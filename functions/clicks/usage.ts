import { type Kysely, sql } from 'kysely'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import type { Usage } from '../features/feature.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { HOURS_A_DAY, inPieces, type Store, type Tables, toDay } from '../store/store.ts'

type UsageDayTable = Tables['usage_day']

/** Maximum number of (day, kind, listing, source) counts kept in memory; any more are dropped. */
const MAX_COUNTS = 100_000

/**
 * Counts frequent events whose loss does little harm: listings that searches show, and relayed calls. Counts
 * are held in memory and written every few seconds; a crash may lose the last seconds of counts, never a
 * click. Only day, listing and source are kept, nothing about the caller.
 */
export function createUsage(store: Store, clock: Clock, log: Log): Usage {
  let counts = createCounts()
  const reports: (() => void)[] = []
  let writing: Promise<void> = Promise.resolve()
  return {
    searched(listingIds: readonly string[], src: ClickSource | null, times?: number): void {
      counts.add({ day: toDay(clock.now()), kind: 'impression', src: src ?? '' }, listingIds, times)
    },
    called: (listingId: string) =>
      counts.add({ day: toDay(clock.now()), kind: 'call', src: '' }, [listingId]),
    beforeFlush(report: () => void): void {
      reports.push(report)
    },
    flush,
  }

  function flush(): Promise<void> {
    writing = writing.then(async () => {
      try {
        for (const report of reports) report()
      } catch (error) {
        log.error('usage.not_counted', { reason: String(error) })
      }
      const rows = counts.rows()
      if (rows.length === 0) return
      counts = createCounts()
      try {
        await writeCounts(store, rows)
      } catch (error) {
        log.error('usage.not_written', { reason: String(error), counts: rows.length })
        for (const { listing_id, uses, ...group } of rows) counts.add(group, [listing_id], uses)
      }
    })
    return writing
  }
}

/** Uses of each listing by day, kind and source. */
function createCounts() {
  const rows = new Map<string, UsageDayTable>()
  return {
    add(
      group: Omit<UsageDayTable, 'listing_id' | 'uses'>,
      listingIds: readonly string[],
      times = 1,
    ): void {
      const suffix = ` ${group.kind} ${group.day} ${group.src}`
      for (const listing_id of listingIds) {
        const row = rows.get(listing_id + suffix)
        if (row !== undefined) row.uses += times
        else if (rows.size < MAX_COUNTS)
          rows.set(listing_id + suffix, { ...group, listing_id, uses: times })
      }
    },
    rows: () => [...rows.values()],
  }
}

/** Writes all rows or none, so a retry cannot count twice; sorts them, so instances cannot deadlock. */
async function writeCounts(store: Store, rows: UsageDayTable[]): Promise<void> {
  rows.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
  await store.db.transaction().execute(async (trx) => {
    for (const some of inPieces(rows))
      await trx
        .insertInto('usage_day')
        .values(some)
        .onConflict((conflict) =>
          conflict
            .columns(['listing_id', 'kind', 'day', 'src'])
            .doUpdateSet((eb) => ({ uses: eb('usage_day.uses', '+', eb.ref('excluded.uses')) })),
        )
        .execute()
  })
}

function sortKey({ listing_id, kind, day, src }: UsageDayTable): string {
  return `${listing_id} ${kind} ${day} ${src}`
}

/** Clicks on one listing on one day from one source, without bots; the source is '' if the clicks named none. */
export type ClickCount = Tables['click_day']

/** Single clicks as counts, in the columns of `click_day`. */
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

/** Counts of clicks since `sinceDay`, from both single and folded clicks; `listingIds` null means all listings. */
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

export type UsageCount = Omit<UsageDayTable, 'day'>

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
