import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import * as v from 'valibot'
import type { OptedOutListing } from '../../../src/domain/listing/live-listing.ts'
import { isProvedAt } from '../../../src/domain/owners/shared-hosts.ts'
import { ClaimCheckResultSchema, type ClaimView } from '../../../src/domain/views/seller-views.ts'
import { smallestOf } from '../../../src/domain/wire/extremes.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import { RETENTION } from '../../../src/domain/wire/retention.ts'
import type { Release } from '../../release/release.ts'
import type { ClaimTable, Tables } from '../../store/schema/store.ts'
import { createSecret } from '../sessions/login-token.ts'

const HOUR_MS = 3_600_000
export const MAX_OPEN_CLAIMS = 20

/**
 * The seller's open claim on this listing by this method, or a new one with a token of its own;
 * with too many open claims, the time when the first of them expires. Runs in a transaction.
 */
export async function openClaim(
  trx: Kysely<Tables>,
  wanted: Pick<ClaimTable, 'seller_id' | 'listing_id' | 'host' | 'method'>,
  now: number,
): Promise<ClaimTable | { fullUntil: number }> {
  const { seller_id: sellerId, listing_id, host, method } = wanted
  // Takes the seller's row lock: two parallel requests must not both be the twentieth.
  await trx.updateTable('seller').set({ id: sellerId }).where('id', '=', sellerId).execute()
  await expireClaims(trx, sellerId, now)
  const open = await trx
    .selectFrom('claim')
    .selectAll()
    .where('seller_id', '=', sellerId)
    .where('state', 'in', ['pending', 'verified'])
    .execute()
  const same = open.find(
    (claim) => claim.listing_id === listing_id && claim.method === method && claim.host === host,
  )
  if (same !== undefined) return same
  const pending = open.filter(({ state }) => state === 'pending')
  if (pending.length >= MAX_OPEN_CLAIMS)
    return { fullUntil: smallestOf(pending.map(({ expires_at }) => expires_at)) }
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

export async function listClaims(db: Kysely<Tables>, sellerId: string): Promise<ClaimTable[]> {
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

export function toClaimView(claim: ClaimTable): ClaimView {
  const { id, listing_id, method, state, verified_at, last_checked_at } = claim
  // An unchecked claim has none, and another version may have stored something else.
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
  }
}

function toIso(moment: number): string {
  return new Date(moment).toISOString()
}

type Listings = Pick<Release, 'listings' | 'optedOut'>

/** A claimable listing, removed ones included: otherwise no seller could bring theirs back. */
export function findClaimable(release: Listings, id: string): OptedOutListing | undefined {
  return release.listings.get(id) ?? release.optedOut.get(id)
}

/** A verified claim has no effect while its listing is elsewhere: the proof covers one host. */
export function isOwned(
  release: Listings,
  { state, listing_id, host }: Pick<ClaimTable, 'state' | 'listing_id' | 'host'>,
): boolean {
  const listing = findClaimable(release, listing_id)
  return state === 'verified' && listing !== undefined && isProvedAt(listing.url, host)
}
