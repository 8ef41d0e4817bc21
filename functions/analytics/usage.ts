import type { ClickSource } from '../../src/domain/vocabulary.ts'
import type { Log } from '../log.ts'
import type { Clock } from '../ports/clock.ts'
import type { Store } from '../ports/store.ts'
import { toDay } from '../store/click.ts'
import type { UsageDayTable, UsageKind } from '../store/tables.ts'

/**
 * Counts of what happens often and matters little one by one: listings shown by searches, relayed
 * calls. Counted in memory, written every few seconds; a crash may lose the last seconds of counts,
 * never a click. Only day, listing and source are kept: nothing about who asked.
 */
export interface Usage {
  /** One search answered with these listings. Synchronous and cheap; searches don't wait for it. */
  searched(listingIds: readonly string[], src: ClickSource | null): void
  /** One call relayed to the listing's seller. */
  called(listingId: string): void
  /** Writes what is counted so far. */
  flush(): Promise<void>
  close(): Promise<void>
}

const FLUSH_EVERY_MS = 5_000
/** Distinct (day, kind, listing, source) counts held at most; beyond it new ones are dropped. */
const MAX_COUNTS = 100_000
const ROWS_A_STATEMENT = 1_000

export function createUsage(store: Store, clock: Clock, log: Log): Usage {
  let counts = new Map<string, UsageDayTable>()
  let writing: Promise<void> = Promise.resolve()
  const timer = setInterval(() => void flush(), FLUSH_EVERY_MS)
  timer.unref()

  return {
    searched(listingIds, src) {
      const day = toDay(clock.now())
      for (const id of listingIds) add(counts, usageRow(day, 'impression', id, src))
    },
    called: (listingId) => add(counts, usageRow(toDay(clock.now()), 'call', listingId, null)),
    flush,
    close: () => {
      clearInterval(timer)
      return flush()
    },
  }

  function flush(): Promise<void> {
    writing = writing.then(async () => {
      if (counts.size === 0) return
      const taken = counts
      counts = new Map()
      try {
        await writeCounts(store, [...taken.values()])
      } catch (error) {
        log.error('usage.not_written', { reason: String(error), counts: taken.size })
        for (const row of taken.values()) add(counts, row)
      }
    })
    return writing
  }
}

function usageRow(
  day: number,
  kind: UsageKind,
  listing_id: string,
  src: ClickSource | null,
): UsageDayTable {
  return { day, kind, listing_id, src: src ?? '', uses: 1 }
}

function add(counts: Map<string, UsageDayTable>, row: UsageDayTable): void {
  const key = `${row.listing_id} ${row.kind} ${row.src} ${row.day}`
  const known = counts.get(key)
  if (known !== undefined) known.uses += row.uses
  else if (counts.size < MAX_COUNTS) counts.set(key, row)
}

/** All or nothing, so that a retry cannot count twice; sorted, so that instances cannot deadlock. */
async function writeCounts(store: Store, rows: UsageDayTable[]): Promise<void> {
  rows.sort((a, b) => (sortKey(a) < sortKey(b) ? -1 : 1))
  await store.db.transaction().execute(async (trx) => {
    for (let at = 0; at < rows.length; at += ROWS_A_STATEMENT) {
      await trx
        .insertInto('usage_day')
        .values(rows.slice(at, at + ROWS_A_STATEMENT))
        .onConflict((conflict) =>
          conflict
            .columns(['listing_id', 'kind', 'day', 'src'])
            .doUpdateSet((eb) => ({ uses: eb('usage_day.uses', '+', eb.ref('excluded.uses')) })),
        )
        .execute()
    }
  })
}

function sortKey({ listing_id, kind, day, src }: UsageDayTable): string {
  return `${listing_id} ${kind} ${day} ${src}`
}
