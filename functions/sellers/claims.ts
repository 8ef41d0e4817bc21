import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import * as v from 'valibot'
import type { OptedOutListing } from '../../src/domain/listing/listing-states.ts'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import { type ClaimRules, isProvedAt, judgeClaim } from '../../src/domain/sellers/claim-rules.ts'
import {
  type Analytics,
  ClaimBodySchema,
  ClaimCheckResultSchema,
  type ClaimStarted,
  type ClaimView,
  type KnownPayout,
  type ListingAnalyticsSchema,
  MailsBodySchema,
  type Me,
  OptOutBodySchema,
  type OwnClaim,
} from '../../src/domain/views/seller-views.ts'
import { parseJson, smallestOf } from '../../src/domain/wire/json.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/wire/shapes.ts'
import { type ClaimMethod, RETENTION } from '../../src/domain/wire/vocabulary.ts'
import {
  type ClickCount,
  readClickCounts,
  readUsageCounts,
  type UsageCount,
} from '../clicks/usage.ts'
import type { Parts } from '../features/feature.ts'
import { refuse } from '../http/answers.ts'
import type { ObjectSchema } from '../http/parse-body.ts'
import { readReceiptsOf, type SeenReceipt } from '../receipts/read-receipts.ts'
import { type Release, toUnknownText } from '../release/release.ts'
import type { LimitName } from '../server/rate-limits.ts'
import { type ClaimTable, countRows, HOURS_A_DAY, type Tables, toDay } from '../store/store.ts'
import { writeInstructions } from './proofs.ts'
import { createSecret, createSignedInRoute, takeBody, toSellerView } from './sign-in.ts'

/** Endpoints for claims on listings, an owner's decisions about a listing, and a seller's own data. */
export function createClaimRoutes(parts: Parts) {
  return {
    claims: createClaims(parts),
    claim_start: createClaimStart(parts),
    opt_out: createOptOut(parts),
    me: createMe(parts),
    seller_mails: createSellerMails(parts),
    analytics: createAnalytics(parts),
  }
}

/** `GET /api/v1/sellers/claim`: the signed-in seller's claims, newest first. */
function createClaims(parts: Parts) {
  const { db } = parts.ledger.store
  return createSignedInRoute(parts, async (_call, { id: sellerId }) => {
    await expireClaims(db, sellerId, parts.clock.now())
    return { claims: (await listClaims(db, sellerId)).map(toClaimView) }
  })
}

/**
 * `POST /api/v1/sellers/claim {listing_id, method?}`. Host, token and state come from the server
 * alone. Asking again while a claim is open gives the same claim with the same token, with the
 * method that was named last.
 */
function createClaimStart(parts: Parts) {
  const { ledger, clock, release, config } = parts
  return createSignedInRoute(parts, async (call, { id: sellerId }): Promise<ClaimStarted> => {
    const body = await takeBody(parts, 'claim', call, ClaimBodySchema)
    const { listing_id, method = 'well_known' } = body
    const listing =
      findClaimable(release(), listing_id) ??
      refuse('listing-not-found', { detail: toUnknownText(release(), listing_id) })
    const verdict = judgeClaim(listing.url, method, claimRulesOf(parts))
    if (!verdict.allowed) refuse('claim-method-unavailable', { detail: verdict.detail })
    const wanted = { seller_id: sellerId, listing_id, host: verdict.host.host, method }
    const claim = await ledger.store.db
      .transaction()
      .execute((trx) => openClaim(trx, wanted, clock.now()))
    const { id, token } = claim
    const { BASE_URL: baseUrl } = config
    const instructions = writeInstructions(verdict.host, method, { id, token, baseUrl })
    return { claim: toClaimView(claim), token, instructions }
  })
}

export function claimRulesOf({ config, release }: Pick<Parts, 'config' | 'release'>): ClaimRules {
  const { sharedHosts } = release()
  return { allowPrivate: config.PRIVATE_TARGETS, sharedHosts, issuer: config.OIDC_ISSUER }
}

const MAX_OPEN_CLAIMS = 20

/**
 * The seller's open claim on this listing, with this method from now on, or a new claim with its
 * own token; refuses a seller with too many open claims. A verified claim keeps its method, because
 * that method proves ownership until another one is proved. Runs in a transaction.
 */
async function openClaim(
  trx: Kysely<Tables>,
  wanted: Pick<ClaimTable, 'seller_id' | 'listing_id' | 'host' | 'method'>,
  now: number,
): Promise<ClaimTable> {
  const { seller_id: sellerId, listing_id, host, method } = wanted
  // Takes the seller's row lock: two parallel requests must not both open the last allowed claim.
  await trx.updateTable('seller').set({ id: sellerId }).where('id', '=', sellerId).execute()
  await expireClaims(trx, sellerId, now)
  const open = await trx
    .selectFrom('claim')
    .selectAll()
    .where('seller_id', '=', sellerId)
    .where('state', 'in', ['pending', 'verified'])
    .execute()
  const own = open.filter((claim) => claim.listing_id === listing_id && claim.host === host)
  const same = own.find((claim) => claim.method === method)
  if (same !== undefined) return same
  const other = own.find(({ state }) => state === 'pending')
  if (other !== undefined) return continueClaim(trx, other, method)
  const pending = open.filter(({ state }) => state === 'pending')
  if (pending.length >= MAX_OPEN_CLAIMS)
    refuseFull(smallestOf(pending.map(({ expires_at }) => expires_at)) - now)
  const claim: ClaimTable = {
    id: randomUUID(),
    ...wanted,
    token: createSecret(),
    state: 'pending',
    created_at: now,
    expires_at: now + RETENTION.pending_claim_hours * HOUR_MS,
    verified_at: null,
    last_checked_at: null,
    failing_since: null,
    last_check: null,
    told: null,
  }
  await trx.insertInto('claim').values(claim).execute()
  return claim
}

async function continueClaim(trx: Kysely<Tables>, claim: ClaimTable, method: ClaimMethod) {
  const changed = { method, last_checked_at: null, last_check: null }
  await trx
    .updateTable('claim')
    .set(changed)
    .where((eb) => eb.and({ id: claim.id, state: 'pending' }))
    .execute()
  return { ...claim, ...changed }
}

/** @param waitMs time until the first open claim expires (milliseconds) */
function refuseFull(waitMs: number): never {
  const seconds = Math.max(1, Math.ceil(waitMs / 1000))
  const hours = RETENTION.pending_claim_hours
  refuse('rate-limited', {
    detail: `You have ${MAX_OPEN_CLAIMS} open claims. Finish one, or wait until one expires, ${hours} hours after it was started.`,
    headers: {
      'RateLimit-Policy': `"open_claims";q=${MAX_OPEN_CLAIMS};w=${hours * 3600}`,
      RateLimit: `"open_claims";r=0;t=${seconds}`,
      'Retry-After': String(seconds),
    },
  })
}

/**
 * `POST /api/v1/sellers/opt-out {listing_id, removed?, moved_to?}`: the owner removes a listing
 * from the directory at the next build, names another of their listings instead, or brings it back.
 * It stays removed if the claim later lapses, as long as the listing stays on the proved host.
 */
function createOptOut(parts: Parts) {
  const { db } = parts.ledger.store
  return createOwnerRoute(parts, 'claim', OptOutBodySchema, async (body, { host, seller_id }) => {
    const { listing_id, removed = true, moved_to } = body
    if (moved_to !== undefined) {
      const fault = removed
        ? await findMoveFault(parts, seller_id, listing_id, moved_to)
        : 'expected no moved_to when the listing is brought back'
      if (fault !== null)
        refuse('invalid-parameter', {
          detail: `moved_to: ${fault}.`,
          errors: [{ in: 'body', name: 'moved_to', detail: fault }],
        })
    }
    const row = { listing_id, host, moved_to: moved_to ?? null, created_at: parts.clock.now() }
    const insert = db.insertInto('opt_out').values(row)
    if (!removed) await db.deleteFrom('opt_out').where('listing_id', '=', listing_id).execute()
    else await insert.onConflict((old) => old.column('listing_id').doUpdateSet(row)).execute()
    return { listing_id, removed, ...(moved_to && { moved_to }), effective: 'next_build' }
  })
}

/** A move must end at a listing that the same seller proved and that was not removed. */
async function findMoveFault(parts: Parts, sellerId: string, from: string, to: string) {
  if (from === to) return 'expected a listing other than listing_id'
  if ((await findOwned(parts, sellerId, to)) === undefined)
    return 'expected a listing that you own; claim it first'
  const out = parts.ledger.store.db.selectFrom('opt_out').where('listing_id', '=', to)
  if ((await countRows(out)) === 0) return null
  return 'expected a listing that is not removed: bring that listing back first'
}

/** Makes a route about an owned listing: counts against a limit, reads the body, finds the caller's claim. */
export function createOwnerRoute<Schema extends ObjectSchema & OfListing, Answer extends object>(
  parts: Parts,
  limit: LimitName,
  schema: Schema,
  answer: (body: v.InferOutput<Schema>, claim: ClaimTable) => Promise<Answer>,
) {
  return createSignedInRoute(parts, async (call, { id: sellerId }) => {
    const body = await takeBody(parts, limit, call, schema)
    // Somebody else's listing gets the same answer as a listing that does not exist.
    const claim =
      (await findOwned(parts, sellerId, body.listing_id)) ??
      refuse('listing-not-found', {
        detail:
          'You own no listing with this id. Claim it first: you need a verified claim on its host.',
      })
    return answer(body, claim)
  })
}

type OfListing = v.GenericSchema<unknown, { listing_id: string }>

/** A seller's verified claim that covers a listing at its current host. */
async function findOwned({ ledger, release }: Parts, sellerId: string, listingId: string) {
  const claim = await ledger.store.db
    .selectFrom('claim')
    .selectAll()
    .where((eb) => eb.and({ listing_id: listingId, seller_id: sellerId, state: 'verified' }))
    .executeTakeFirst()
  return claim !== undefined && isOwned(release(), claim) ? claim : undefined
}

async function listClaims(db: Kysely<Tables>, sellerId: string): Promise<ClaimTable[]> {
  return db
    .selectFrom('claim')
    .selectAll()
    .where('seller_id', '=', sellerId)
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .execute()
}

/** Expires pending claims; a clock set back later does not revive them. */
export async function expireClaims(db: Kysely<Tables>, sellerId: string, now: number) {
  await db
    .updateTable('claim')
    .set({ state: 'expired' })
    .where((eb) => eb.and({ seller_id: sellerId, state: 'pending' }))
    .where('expires_at', '<=', now)
    .execute()
}

/** For how long a claim survives its proof. */
export const LAPSE_AFTER_MS = RETENTION.lost_proof_days * DAY_MS

export function toClaimView(claim: ClaimTable): ClaimView {
  const { id, listing_id, method, state, verified_at, last_checked_at, failing_since } = claim
  const isLost = state === 'verified' && failing_since !== null
  // An unchecked claim has no result, and another version may have stored another shape.
  const kept = v.safeParse(ClaimCheckResultSchema, parseJson(claim.last_check ?? ''))
  return {
    id,
    listing_id,
    method,
    state,
    created_at: toIso(claim.created_at),
    expires_at: toIso(claim.expires_at),
    ...(verified_at !== null && { verified_at: toIso(verified_at) }),
    ...(last_checked_at !== null && { last_checked_at: toIso(last_checked_at) }),
    ...(kept.success && { last_check: kept.output }),
    ...(isLost && { lapses_at: toIso(failing_since + LAPSE_AFTER_MS) }),
  }
}

function toIso(moment: number): string {
  return new Date(moment).toISOString()
}

type Listings = Pick<Release, 'listings' | 'optedOut'>

/** A listing that can be claimed. Opted-out listings are included, so that their sellers can bring them back. */
export function findClaimable(release: Listings, id: string): OptedOutListing | undefined {
  return release.listings.get(id) ?? release.optedOut.get(id)
}

/** A verified claim has no effect while its listing is on another host: the proof covers one host. */
export function isOwned(
  release: Listings,
  { state, listing_id, host }: Pick<ClaimTable, 'state' | 'listing_id' | 'host'>,
): boolean {
  const listing = findClaimable(release, listing_id)
  return state === 'verified' && listing !== undefined && isProvedAt(listing.url, host)
}

const BASIC_STATS_DAYS = 30
const ANALYTICS_DAYS = 90

/** `GET /api/v1/sellers/me`: the seller, claims, payouts, and three numbers about the last thirty days. */
function createMe(parts: Parts) {
  const { ledger, clock, release } = parts
  const { db } = ledger.store
  return createSignedInRoute(
    parts,
    async (_call, { id: sellerId, email, createdAt, wantsMails }): Promise<Me> => {
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

/** Removals that owners requested, by listing. */
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

/** `POST /api/v1/sellers/mails {listings}`: turns emails about changes to the seller's own listings on or off. */
function createSellerMails(parts: Parts) {
  const { ledger, clock } = parts
  return createSignedInRoute(parts, async (call, { id: sellerId }) => {
    const { listings } = await takeBody(parts, 'claim', call, MailsBodySchema)
    await ledger.store.db
      .updateTable('seller')
      .set({ mails_off_at: listings ? null : clock.now() })
      .where('id', '=', sellerId)
      .execute()
    return { listings }
  })
}

/** `GET /api/v1/sellers/me/analytics`: ninety days of figures for each listing that the seller owns now. */
function createAnalytics(parts: Parts) {
  return createSignedInRoute(parts, async (_call, { id: sellerId }): Promise<Analytics> => {
    const { listings } = await readOwn(parts, sellerId)
    return { basic: { listings }, advanced: { status: 'stub' } }
  })
}

type ListingAnalytics = v.InferOutput<typeof ListingAnalyticsSchema>

/** All claims of a seller, the claims that are valid now, and what happened on the listings. */
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

/** @example toDate(20_000) → '2024-10-04' */
function toDate(day: number): string {
  return new Date(day * HOURS_A_DAY * HOUR_MS).toISOString().slice(0, 10)
}

/** A receipt without the hashes, which only the caller checks. */
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

/** Every known payout of these claims' listings: counted, contested or proved. */
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
