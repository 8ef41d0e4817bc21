import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { Store, UsageDayTable } from '../store/store.ts'
import { inPieces, toDay } from '../store/store.ts'

/**
 * Counts of events that are frequent and matter little one by one: listings shown by searches,
 * relayed calls. Counted in memory, written every few seconds; a crash may lose the last seconds of
 * counts, never a click. Only day, listing and source are kept: nothing about who asked.
 */
export type Usage = ReturnType<typeof createUsage>

const FLUSH_EVERY_MS = 5_000
/** Distinct (day, kind, listing, source) counts held at most; beyond it new ones are dropped. */
const MAX_COUNTS = 100_000

export function createUsage(store: Store, clock: Clock, log: Log) {
  let counts = createCounts()
  const reports: (() => void)[] = []
  let writing: Promise<void> = Promise.resolve()
  const timer = setInterval(() => void flush(), FLUSH_EVERY_MS)
  timer.unref()

  return {
    /** Counts these listings as shown. Synchronous and cheap; searches don't wait for it. */
    searched(listingIds: readonly string[], src: ClickSource | null, times?: number): void {
      counts.add({ day: toDay(clock.now()), kind: 'impression', src: src ?? '' }, listingIds, times)
    },
    called: (listingId: string) =>
      counts.add({ day: toDay(clock.now()), kind: 'call', src: '' }, [listingId]),
    /** Parts that keep their own counts report them before counts are written. */
    beforeFlush(report: () => void): void {
      reports.push(report)
    },
    flush,
    close: () => {
      clearInterval(timer)
      return flush()
    },
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

/** All or nothing, so that a retry cannot count twice; sorted, so that instances cannot deadlock. */
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
