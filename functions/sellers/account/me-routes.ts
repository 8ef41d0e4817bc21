import type * as v from 'valibot'
import type { Receipt } from '../../../src/domain/receipts/receipt.ts'
import type { ListingAnalyticsSchema } from '../../../src/domain/views/seller-views.ts'
import {
  type ClickCount,
  readClickCounts,
  readUsageCounts,
  type UsageCount,
} from '../../analytics/read-clicks.ts'
import { jsonAnswer } from '../../http/problem.ts'
import type { Parts } from '../../parts/parts.ts'
import { readReceiptsOf } from '../../receipts/read-deliveries.ts'
import { toDate, toDay } from '../../store/schema/click.ts'
import { expireClaims, isOwned, listClaims, toClaimView } from '../claims/claim-record.ts'
import { listPayouts } from '../payouts/payout-store.ts'
import { createSignedInRoute, type SellerRoute } from '../sessions/seller-route.ts'
import { toSellerView } from '../sessions/session-routes.ts'

const BASIC_STATS_DAYS = 30
const ANALYTICS_DAYS = 90

/** `GET /api/v1/sellers/me`: who is signed in, the claims, the payouts, and thirty days in three numbers. */
export function createMe(parts: Parts): SellerRoute {
  const { ledger, clock, release } = parts
  const { db } = ledger.store
  return createSignedInRoute(parts, async (_event, { sellerId, email, createdAt }) => {
    await expireClaims(db, sellerId, clock.now())
    const { claims, owned, listings } = await readOwn(parts, sellerId, BASIC_STATS_DAYS)
    return jsonAnswer({
      seller: toSellerView(email, createdAt),
      claims: claims.map(toClaimView),
      unlisted: owned
        .map(({ listing_id }) => listing_id)
        .filter((id) => !release().listings.has(id)),
      payouts: await listPayouts(db, release(), owned),
      stats: {
        listings: listings.length,
        clicks_30d: listings.reduce((sum, { clicks }) => sum + clicks.total, 0),
        calls_30d: listings.reduce((sum, { calls }) => sum + calls, 0),
      },
    })
  })
}

/** `GET /api/v1/sellers/me/analytics`: ninety days of each listing the seller owns now. */
export function createAnalytics(parts: Parts): SellerRoute {
  return createSignedInRoute(parts, async (_event, { sellerId }) => {
    const { listings } = await readOwn(parts, sellerId, ANALYTICS_DAYS)
    return jsonAnswer({ basic: { listings }, advanced: { status: 'stub' } })
  })
}

type ListingAnalytics = v.InferOutput<typeof ListingAnalyticsSchema>

/** All claims of a seller, those that hold now, and what happened on their listings in so many days. */
async function readOwn({ ledger, clock, release }: Parts, sellerId: string, days: number) {
  const { store } = ledger
  const claims = await listClaims(store.db, sellerId)
  const owned = claims.filter((claim) => isOwned(release(), claim))
  const ids = [...new Set(owned.map(({ listing_id }) => listing_id))].sort()
  const since = toDay(clock.now()) - days + 1
  const clicks = await readClickCounts(store, ids, since)
  const usage = await readUsageCounts(store, ids, since)
  const listings = ids.map(async (id) => ({
    ...toListingAnalytics(id, clicks, usage),
    deliveries: (await readReceiptsOf(store, id)).map(toDelivery),
  }))
  return { claims, owned, listings: await Promise.all(listings) }
}

function toListingAnalytics(
  id: string,
  allClicks: readonly ClickCount[],
  allUsage: readonly UsageCount[],
): Omit<ListingAnalytics, 'deliveries'> {
  const clicks = allClicks.filter(({ listing_id }) => listing_id === id)
  const usage = allUsage.filter(({ listing_id }) => listing_id === id)
  const byDay = [...Map.groupBy(clicks, ({ day }) => toDate(day))].sort()
  const bySource = [...Map.groupBy(clicks, ({ src }) => (src === '' ? 'unknown' : src))]
  const usesOf = (kind: UsageCount['kind']) =>
    usage.filter((row) => row.kind === kind).reduce((sum, { uses }) => sum + uses, 0)
  return {
    listing_id: id,
    clicks: {
      total: sumOf(clicks),
      by_day: byDay.map(([date, rows]) => ({ date, clicks: sumOf(rows) })),
      by_src: Object.fromEntries(bySource.map(([src, rows]) => [src, sumOf(rows)])),
    },
    calls: usesOf('call'),
    search_impressions: usesOf('impression'),
  }
}

/** Hashes are the caller's to check; the seller knows what it answered. */
function toDelivery({
  listing_id: _,
  request: __,
  answer: ___,
  ...delivery
}: Receipt & { call: string }): ListingAnalytics['deliveries'][number] {
  return delivery
}

function sumOf(rows: readonly ClickCount[]): number {
  return rows.reduce((sum, { clicks }) => sum + clicks, 0)
}
