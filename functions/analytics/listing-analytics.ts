import type * as v from 'valibot'
import type { ListingAnalyticsSchema } from '../../src/domain/views/seller-views.ts'
import { toDate } from '../store/schema/click.ts'
import type { Store } from '../store/schema/store.ts'
import {
  type ClickCount,
  readClickCounts,
  readUsageCounts,
  type UsageCount,
} from './read-clicks.ts'

type ListingAnalytics = v.InferOutput<typeof ListingAnalyticsSchema>

/** Counted clicks by day and source, relayed calls and appearances in search, from `sinceDay` on. */
export async function readListingAnalytics(
  store: Store,
  listingIds: readonly string[],
  sinceDay: number,
): Promise<ListingAnalytics[]> {
  const clicks = await readClickCounts(store, listingIds, sinceDay)
  const usage = await readUsageCounts(store, listingIds, sinceDay)
  return listingIds.map((id) => toListingAnalytics(id, clicks, usage))
}

function toListingAnalytics(
  id: string,
  allClicks: readonly ClickCount[],
  allUsage: readonly UsageCount[],
): ListingAnalytics {
  const clicks = allClicks.filter(({ listing_id }) => listing_id === id)
  const usage = allUsage.filter(({ listing_id }) => listing_id === id)
  const byDay = sumBy(clicks, ({ day }) => toDate(day))
  const usesOf = (kind: UsageCount['kind']) =>
    usage.filter((row) => row.kind === kind).reduce((sum, { uses }) => sum + uses, 0)
  return {
    listing_id: id,
    clicks: {
      total: clicks.reduce((sum, row) => sum + row.clicks, 0),
      by_day: [...byDay].sort().map(([date, count]) => ({ date, clicks: count })),
      by_src: Object.fromEntries(sumBy(clicks, ({ src }) => (src === '' ? 'unknown' : src))),
    },
    calls: usesOf('call'),
    search_impressions: usesOf('impression'),
  }
}

function sumBy(rows: readonly ClickCount[], keyOf: (row: ClickCount) => string) {
  const sums = new Map<string, number>()
  for (const row of rows) sums.set(keyOf(row), (sums.get(keyOf(row)) ?? 0) + row.clicks)
  return sums
}
