import { OptOutBodySchema } from '../../../src/domain/views/seller-views.ts'
import { parseBody } from '../../http/parse-body.ts'
import type { Parts } from '../../parts/parts.ts'
import {
  createSignedInRoute,
  jsonAnswer,
  limitClient,
  type SellerRoute,
} from '../sessions/seller-route.ts'
import { isOwned } from './claimed-listing.ts'

/**
 * `POST /api/v1/sellers/opt-out {listing_id, removed?}`: the owner takes a listing out of the
 * directory at the next build, or brings it back. It stays out when the claim later lapses, as long
 * as it stays on the host that was proved.
 */
export function createOptOut(parts: Parts): SellerRoute {
  const { problem, ledger, clock, release } = parts
  return createSignedInRoute(parts, async (event, { sellerId }) => {
    const refused = await limitClient(parts, 'claim', event)
    if (refused !== null) return refused
    const body = await parseBody(event.req, OptOutBodySchema, problem)
    if ('refusal' in body) return body.refusal
    const { listing_id, removed = true } = body.output
    const { db } = ledger.store
    const claim = await db
      .selectFrom('claim')
      .select(['state', 'listing_id', 'host'])
      .where('listing_id', '=', listing_id)
      .where('seller_id', '=', sellerId)
      .where('state', '=', 'verified')
      .executeTakeFirst()
    // A listing of somebody else answers like one that does not exist.
    if (claim === undefined || !isOwned(release(), claim)) {
      return problem('listing-not-found', {
        detail:
          'You own no listing with this id. Claim it first; a verified claim of its host is needed.',
      })
    }
    const row = { listing_id, host: claim.host, created_at: clock.now() }
    if (removed) {
      const insert = db.insertInto('opt_out').values(row)
      await insert
        .onConflict((conflict) => conflict.column('listing_id').doUpdateSet(row))
        .execute()
    } else await db.deleteFrom('opt_out').where('listing_id', '=', listing_id).execute()
    return jsonAnswer({ listing_id, removed, effective: 'next_build' })
  })
}
