import type { Kysely } from 'kysely'
import type * as v from 'valibot'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import {
  type Analytics,
  type KnownPayout,
  type ListingAnalyticsSchema,
  MailsBodySchema,
  type Me,
  type OwnClaim,
} from '../../src/domain/views/seller-views.ts'
import {
  type ClickCount,
  readClickCounts,
  readUsageCounts,
  type UsageCount,
} from '../clicks/usage.ts'
import type { Parts } from '../features/feature.ts'
import { readReceiptsOf, type SeenReceipt } from '../receipts/read-receipts.ts'
import type { Release } from '../release/release.ts'
import type { ClaimTable, Tables } from '../store/store.ts'
import { toDate, toDay } from '../store/store.ts'
import { expireClaims, isOwned, listClaims, toClaimView } from './claims.ts'

import { createSignedInRoute, takeBody, toSellerView } from './sign-in.ts'

/** What sellers see of themselves and their listings. */
export function createAccountFeature(parts: Parts) {
  return {
    routes: {
      me: createMe(parts),
      seller_mails: createSellerMails(parts),
      analytics: createAnalytics(parts),
    },
  }
}

const BASIC_STATS_DAYS = 30
const ANALYTICS_DAYS = 90

/** `GET /api/v1/sellers/me`: the seller, claims and payouts, and thirty days in three numbers. */
function createMe(parts: Parts) {
  const { ledger, clock, release } = parts
  const { db } = ledger.store
  return createSignedInRoute(
    parts,
    async (_call, { sellerId, email, createdAt, wantsMails }): Promise<Me> => {
      await expireClaims(db, sellerId, clock.now())
      const { claims, owned, listings } = await readOwn(parts, sellerId)
      const removals = await readRemovals(db, release(), owned)
      return {
        seller: toSellerView(email, createdAt),
        claims: claims.map((claim) => ({
          ...toClaimView(claim),
          removal: owned.includes(claim) ? (removals.get(claim.listing_id) ?? null) : null,
        })),
        unlisted: owned
          .map(({ listing_id }) => listing_id)
          .filter((id) => !release().listings.has(id)),
        payouts: await listPayouts(db, release(), owned),
        mails: { listings: wantsMails },
        stats: {
          listings: listings.length,
          clicks_30d: sum(listings.map(({ last_30_days }) => last_30_days.clicks)),
          calls_30d: sum(listings.map(({ last_30_days }) => last_30_days.calls)),
        },
      }
    },
  )
}

/** Removals that their owners want, by listing. */
async function readRemovals(
  db: Kysely<Tables>,
  { listings }: Pick<Release, 'listings'>,
  owned: readonly ClaimTable[],
): Promise<Map<string, OwnClaim['removal']>> {
  if (owned.length === 0) return new Map()
  const ids = owned.map(({ listing_id }) => listing_id)
  const rows = await db.selectFrom('opt_out').selectAll().where('listing_id', 'in', ids).execute()
  return new Map(
    rows.map(({ listing_id, created_at, moved_to }) => [
      listing_id,
      {
        since: new Date(created_at).toISOString(),
        effective: listings.has(listing_id) ? 'next_build' : 'now',
        ...(moved_to !== null && { moved_to }),
      },
    ]),
  )
}

/** `POST /api/v1/sellers/mails {listings}`: turns mails about changes of one's listings on or off. */
function createSellerMails(parts: Parts) {
  const { ledger, clock } = parts
  return createSignedInRoute(parts, async (call, { sellerId }) => {
    const { listings } = await takeBody(parts, 'claim', call, MailsBodySchema)
    await ledger.store.db
      .updateTable('seller')
      .set({ mails_off_at: listings ? null : clock.now() })
      .where('id', '=', sellerId)
      .execute()
    return { listings }
  })
}

/** `GET /api/v1/sellers/me/analytics`: ninety days of each listing the seller owns now. */
function createAnalytics(parts: Parts) {
  return createSignedInRoute(parts, async (_call, { sellerId }): Promise<Analytics> => {
    const { listings } = await readOwn(parts, sellerId)
    return { basic: { listings }, advanced: { status: 'stub' } }
  })
}

type ListingAnalytics = v.InferOutput<typeof ListingAnalyticsSchema>

/** All claims of a seller, those valid now, and what happened on their listings. */
async function readOwn({ ledger, clock, release }: Parts, sellerId: string) {
  const { store } = ledger
  const claims = await listClaims(store.db, sellerId)
  const owned = claims.filter((claim) => isOwned(release(), claim))
  const ids = [...new Set(owned.map(({ listing_id }) => listing_id))].sort()
  const today = toDay(clock.now())
  const since = today - ANALYTICS_DAYS + 1
  const lately = today - BASIC_STATS_DAYS + 1
  const clicks = await readClickCounts(store, ids, since)
  const usage = await readUsageCounts(store, ids, since)
  const recent = {
    clicks: clicks.filter(({ day }) => day >= lately),
    usage: await readUsageCounts(store, ids, lately),
  }
  const listings = ids.map(async (id) => ({
    ...toListingAnalytics(id, clicks, usage),
    last_30_days: {
      clicks: sumOf(recent.clicks.filter(({ listing_id }) => listing_id === id)),
      calls: countUses(recent.usage, id, 'call'),
      search_impressions: countUses(recent.usage, id, 'impression'),
    },
    deliveries: (await readReceiptsOf(store, id)).map(toDelivery),
  }))
  return { claims, owned, listings: await Promise.all(listings) }
}

function toListingAnalytics(
  id: string,
  allClicks: readonly ClickCount[],
  usage: readonly UsageCount[],
): Omit<ListingAnalytics, 'deliveries' | 'last_30_days'> {
  const clicks = allClicks.filter(({ listing_id }) => listing_id === id)
  const byDay = [...Map.groupBy(clicks, ({ day }) => toDate(day))].sort()
  const bySource = [...Map.groupBy(clicks, ({ src }) => (src === '' ? 'unknown' : src))]
  return {
    listing_id: id,
    clicks: {
      total: sumOf(clicks),
      by_day: byDay.map(([date, rows]) => ({ date, clicks: sumOf(rows) })),
      by_src: Object.fromEntries(bySource.map(([src, rows]) => [src, sumOf(rows)])),
    },
    calls: countUses(usage, id, 'call'),
    search_impressions: countUses(usage, id, 'impression'),
  }
}

/** Hashes are for the caller to check; the seller knows what it answered. */
function toDelivery({
  listing_id: _,
  request: __,
  answer: ___,
  ...delivery
}: SeenReceipt): ListingAnalytics['deliveries'][number] {
  return delivery
}

function countUses(usage: readonly UsageCount[], id: string, kind: UsageCount['kind']): number {
  const own = usage.filter((row) => row.listing_id === id && row.kind === kind)
  return sum(own.map(({ uses }) => uses))
}

function sumOf(rows: readonly ClickCount[]): number {
  return sum(rows.map(({ clicks }) => clicks))
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0)
}

/** Every known payout of the listings of these claims: counted, contested or proved. */
async function listPayouts(
  db: Kysely<Tables>,
  release: Pick<Release, 'listings'>,
  owned: readonly Pick<ClaimTable, 'id' | 'listing_id'>[],
): Promise<KnownPayout[]> {
  if (owned.length === 0) return []
  const ids = owned.map(({ id }) => id)
  const proofs = await db
    .selectFrom('payout_proof')
    .selectAll()
    .where('claim_id', 'in', ids)
    .orderBy('payout')
    .execute()
  return owned.flatMap(({ id, listing_id }) => {
    const listing = release.listings.get(listing_id)
    const proven = proofs.filter(({ claim_id }) => claim_id === id)
    const provenAt = new Map(proven.map(({ payout, proven_at }) => [payout, proven_at]))
    const known = [...(listing?.payout ?? []), ...(listing?.payout_contested ?? [])]
    const isKnown = new Set(known.map(normalizePayout))
    const others = proven.map(({ payout }) => payout).filter((payout) => !isKnown.has(payout))
    return [...known, ...others].map((payout) => {
      const at = provenAt.get(normalizePayout(payout))
      return {
        listing_id,
        payout,
        published: isKnown.has(normalizePayout(payout)),
        counts: listing?.payout.includes(payout) === true,
        ...(at !== undefined && { proven_at: new Date(at).toISOString() }),
      }
    })
  })
}
