import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import * as v from 'valibot'
import type { OptedOutListing } from '../../src/domain/listing/listing-states.ts'
import { type ClaimRules, isProvedAt, judgeClaim } from '../../src/domain/sellers/claim-rules.ts'
import {
  ClaimBodySchema,
  ClaimCheckResultSchema,
  type ClaimStarted,
  type ClaimView,
  OptOutBodySchema,
} from '../../src/domain/views/seller-views.ts'
import { parseJson, smallestOf } from '../../src/domain/wire/json.ts'
import { HOUR_MS } from '../../src/domain/wire/shapes.ts'
import { RETENTION } from '../../src/domain/wire/vocabulary.ts'
import type { Parts } from '../features/feature.ts'
import { refuse } from '../http/answers.ts'
import type { ObjectSchema } from '../http/parse-body.ts'
import { type Release, toUnknownText } from '../release/release.ts'
import type { LimitName } from '../server/rate-limits.ts'
import { type ClaimTable, countRows, type Tables } from '../store/store.ts'
import { writeInstructions } from './proofs.ts'
import { createSecret, createSignedInRoute, takeBody } from './sign-in.ts'

/** Claims on listings, and what an owner decides of one. */
export function createClaimsFeature(parts: Parts) {
  return {
    routes: {
      claims: createClaims(parts),
      claim_start: createClaimStart(parts),
      opt_out: createOptOut(parts),
    },
  }
}

/** `GET /api/v1/sellers/claim`: the signed-in seller's claims, newest first. */
function createClaims(parts: Parts) {
  const { db } = parts.ledger.store
  return createSignedInRoute(parts, async (_call, { sellerId }) => {
    await expireClaims(db, sellerId, parts.clock.now())
    return { claims: (await listClaims(db, sellerId)).map(toClaimView) }
  })
}

/**
 * `POST /api/v1/sellers/claim {listing_id, method?}`. Host, token and state come from the server
 * alone. Asking again while a claim is open gives the same claim with the same token.
 */
function createClaimStart(parts: Parts) {
  const { ledger, clock, release, config } = parts
  return createSignedInRoute(parts, async (call, { sellerId }): Promise<ClaimStarted> => {
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
 * The seller's open claim on this listing by this method, or a new one with a token of its own;
 * refused with too many open claims. Runs in a transaction.
 */
async function openClaim(
  trx: Kysely<Tables>,
  wanted: Pick<ClaimTable, 'seller_id' | 'listing_id' | 'host' | 'method'>,
  now: number,
): Promise<ClaimTable> {
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

/** @param waitMs until the first of the open claims expires */
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
 * from the directory at the next build, names their listing that replaces it, or brings it back. It
 * stays removed when the claim later lapses, as long as it stays on the proved host.
 */
function createOptOut(parts: Parts) {
  const { db } = parts.ledger.store
  return createOwnerRoute(parts, 'claim', OptOutBodySchema, async (body, { host, seller_id }) => {
    const { listing_id, removed = true, moved_to } = body
    if (moved_to !== undefined) {
      const fault = removed
        ? await findMoveFault(parts, seller_id, listing_id, moved_to)
        : 'expected none where the listing comes back'
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
  if (from === to) return 'expected another listing than listing_id'
  if ((await findOwned(parts, sellerId, to)) === undefined)
    return 'expected a listing that you own; claim it first'
  const out = parts.ledger.store.db.selectFrom('opt_out').where('listing_id', '=', to)
  if ((await countRows(out)) === 0) return null
  return 'expected a listing that is listed; bring it back first'
}

/** Shared by routes about an owned listing: a limit, a body, and the caller's claim to it. */
export function createOwnerRoute<Schema extends ObjectSchema & OfListing, Answer extends object>(
  parts: Parts,
  limit: LimitName,
  schema: Schema,
  answer: (body: v.InferOutput<Schema>, claim: ClaimTable) => Promise<Answer>,
) {
  return createSignedInRoute(parts, async (call, { sellerId }) => {
    const body = await takeBody(parts, limit, call, schema)
    // Somebody else's listing gets the same answer as one that does not exist.
    const claim =
      (await findOwned(parts, sellerId, body.listing_id)) ??
      refuse('listing-not-found', {
        detail:
          'You own no listing with this id. Claim it first; a verified claim of its host is needed.',
      })
    return answer(body, claim)
  })
}

type OfListing = v.GenericSchema<unknown, { listing_id: string }>

/** The verified claim of a seller that covers a listing at its current host. */
async function findOwned({ ledger, release }: Parts, sellerId: string, listingId: string) {
  const claim = await ledger.store.db
    .selectFrom('claim')
    .selectAll()
    .where((eb) => eb.and({ listing_id: listingId, seller_id: sellerId, state: 'verified' }))
    .executeTakeFirst()
  return claim !== undefined && isOwned(release(), claim) ? claim : undefined
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
