import type { H3Event } from 'h3'
import type * as v from 'valibot'
import { judgeClaim } from '../../../src/domain/owners/claim-rules.ts'
import {
  ClaimBodySchema,
  type ClaimChecked,
  OptOutBodySchema,
} from '../../../src/domain/views/seller-views.ts'
import { RETENTION } from '../../../src/domain/wire/retention.ts'
import type { ObjectSchema } from '../../http/parse-body.ts'
import { jsonAnswer } from '../../http/problem.ts'
import { clientOf } from '../../limits/client-key.ts'
import type { LimitName } from '../../limits/counter.ts'
import { refusalOf } from '../../limits/rate-limits.ts'
import type { Parts } from '../../parts/parts.ts'
import { toUnknownText } from '../../release/release.ts'
import { countRows } from '../../store/rows.ts'
import type { ClaimTable } from '../../store/schema/store.ts'
import { writeInstructions } from '../proofs/claim-instructions.ts'
import { createProver } from '../proofs/prover.ts'
import {
  createSellerRoute,
  createSignedInRoute,
  type SellerRoute,
  takeBody,
} from '../sessions/seller-route.ts'
import { checkClaim, claimRulesOf } from './claim-check.ts'
import {
  expireClaims,
  findClaimable,
  isOwned,
  listClaims,
  MAX_OPEN_CLAIMS,
  openClaim,
  toClaimView,
} from './claim-record.ts'
import { toCheckResult } from './claim-transitions.ts'

/** `GET /api/v1/sellers/claim`: the signed-in seller's claims, newest first. */
export function createClaims(parts: Parts): SellerRoute {
  const { ledger, clock } = parts
  return createSignedInRoute(parts, async (_event, { sellerId }) => {
    await expireClaims(ledger.store.db, sellerId, clock.now())
    const claims = await listClaims(ledger.store.db, sellerId)
    return jsonAnswer({ claims: claims.map(toClaimView) })
  })
}

/**
 * `POST /api/v1/sellers/claim {listing_id, method?}`. Host, token and state come from the server
 * alone. Asking again while a claim is open gives the same claim with the same token.
 */
export function createClaimStart(parts: Parts): SellerRoute {
  const { problem, ledger, clock, release } = parts
  const { BASE_URL: baseUrl } = parts.config
  return createSignedInRoute(parts, async (event, { sellerId }) => {
    const body = await takeBody(parts, 'claim', event, ClaimBodySchema)
    if ('refusal' in body) return body.refusal
    const { listing_id, method = 'well_known' } = body.output
    const listing = findClaimable(release(), listing_id)
    if (listing === undefined) {
      return problem('listing-not-found', { detail: toUnknownText(release(), listing_id) })
    }
    const verdict = judgeClaim(listing.url, method, claimRulesOf(parts))
    if (!verdict.allowed) return problem('claim-method-unavailable', { detail: verdict.detail })
    const wanted = { seller_id: sellerId, listing_id, host: verdict.host.host, method }
    const claim = await ledger.store.db
      .transaction()
      .execute((trx) => openClaim(trx, wanted, clock.now()))
    if ('fullUntil' in claim) return refuseFull(parts, claim.fullUntil)
    const { id, token } = claim
    const instructions = writeInstructions(verdict.host, method, { id, token, baseUrl })
    return jsonAnswer({ claim: toClaimView(claim), token, instructions })
  })
}

/**
 * `POST /api/v1/sellers/claim/<claim_id>/check`. A failed proof is a 200 that says what was seen. A
 * workflow has no cookie: it sends its identity token, and gets 400 where that proves nothing.
 */
export function createClaimCheck(parts: Parts): SellerRoute {
  const { problem, ledger, limits, clock, config } = parts
  const { db } = ledger.store
  const prove = createProver(parts)
  const findClaim = (wanted: Partial<ClaimTable>) =>
    db
      .selectFrom('claim')
      .selectAll()
      .where((eb) => eb.and(wanted))
      .executeTakeFirst()
  const check = async (claim: ClaimTable | undefined, shown: Parameters<typeof checkClaim>[3]) => {
    if (claim === undefined)
      return problem('claim-not-found', { detail: 'You have no claim with this id.' })
    const refused = refusalOf(await limits.take('check', claim.id), problem)
    if (refused !== null) return refused
    const { proof, claim: after, checkedAt } = await checkClaim(parts, prove, claim, shown)
    ledger.mails.sendSoon()
    if (!proof.verified && shown.idToken !== undefined)
      return problem('token-invalid', {
        detail: `${proof.next} Expected: ${proof.expected}. Seen: ${proof.observed}.`,
      })
    const result = toCheckResult(after.method, proof, checkedAt)
    return jsonAnswer({ claim: toClaimView(after), result } satisfies ClaimChecked)
  }
  const bySeller = createSignedInRoute(parts, async (event, { sellerId, email }) => {
    await expireClaims(db, sellerId, clock.now())
    // Another seller's claim does not exist here: the query only reads the caller's.
    const claim = await findClaim({ id: idOf(event), seller_id: sellerId })
    return check(claim, claim?.method === 'oidc' ? { idToken: undefined } : { email })
  })
  const byWorkflow = createSellerRoute(parts, async (event) => {
    const refused = refusalOf(await limits.take('search', clientOf(event.req, config)), problem)
    if (refused !== null) return refused
    const claim = await findClaim({ id: idOf(event), method: 'oidc' })
    return check(claim, { idToken: idTokenOf(event) })
  })
  return createSellerRoute(parts, (event) =>
    idTokenOf(event) === undefined ? bySeller(event) : byWorkflow(event),
  )
}

/** A JSON Web Token; a bearer token of another form is for a closed directory. */
function idTokenOf({ req }: H3Event): string | undefined {
  const given = req.headers.get('authorization') ?? ''
  return /^bearer +([\w-]+\.[\w-]*\.[\w-]*)$/i.exec(given)?.[1]
}

function idOf(event: H3Event): string {
  return event.context.params?.claim_id ?? ''
}

function refuseFull({ problem, clock }: Parts, fullUntil: number): Response {
  const seconds = Math.max(1, Math.ceil((fullUntil - clock.now()) / 1000))
  const hours = RETENTION.pending_claim_hours
  return problem('rate-limited', {
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
export function createOptOut(parts: Parts): SellerRoute {
  const { db } = parts.ledger.store
  return createOwnerRoute(parts, 'claim', OptOutBodySchema, async (body, { host, seller_id }) => {
    const { listing_id, removed = true, moved_to } = body
    if (moved_to !== undefined) {
      const fault = removed
        ? await findMoveFault(parts, seller_id, listing_id, moved_to)
        : 'expected none where the listing comes back'
      if (fault !== null)
        return parts.problem('invalid-parameter', {
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
export function createOwnerRoute<Schema extends ObjectSchema & OfListing>(
  parts: Parts,
  limit: LimitName,
  schema: Schema,
  answer: (body: v.InferOutput<Schema>, claim: ClaimTable) => Promise<object>,
): SellerRoute {
  return createSignedInRoute(parts, async (event, { sellerId }) => {
    const body = await takeBody(parts, limit, event, schema)
    if ('refusal' in body) return body.refusal
    const claim = await findOwned(parts, sellerId, body.output.listing_id)
    // Somebody else's listing gets the same answer as one that does not exist.
    if (claim === undefined)
      return parts.problem('listing-not-found', {
        detail:
          'You own no listing with this id. Claim it first; a verified claim of its host is needed.',
      })
    const answered = await answer(body.output, claim)
    return answered instanceof Response ? answered : jsonAnswer(answered)
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
