import { type DisputeBody, DisputeBodySchema } from '../../src/domain/disputes/dispute.ts'
import { parseBody } from '../http/parse-body.ts'
import { refusalOf } from '../limits/rate-limits.ts'
import type { Parts } from '../parts/parts.ts'
import { clientOf, createSellerRoute, type SellerRoute } from '../sellers/sessions/seller-route.ts'
import { type AddedDispute, addDispute } from './dispute-store.ts'

export type TakenDispute = AddedDispute | 'no_listing'

/** Writes a dispute down for a person to look at; by itself it changes nothing. */
export async function takeDispute(
  { ledger, clock, release }: Pick<Parts, 'ledger' | 'clock' | 'release'>,
  body: DisputeBody,
): Promise<TakenDispute> {
  if (!release().listings.has(body.listing_id)) return 'no_listing'
  return addDispute(ledger.store, body, clock.now())
}

/** What a refusal says, in words. */
export const DISPUTE_REFUSALS = {
  no_listing: 'No listing has this id.',
  listing: 'Many disputes about this listing wait already; a person looks at them.',
  queue: 'Many disputes wait already; try again in some days.',
} as const

/** `POST /api/v1/trust/disputes {listing_id, reason, evidence_urls?}`: 202 with its id. */
export function createDisputeRoute(parts: Parts): SellerRoute {
  const { problem, limits } = parts
  return createSellerRoute(parts, async (event) => {
    const taken = await limits.take('dispute', clientOf(parts, event))
    const refused = refusalOf(taken, problem)
    if (refused !== null) return refused
    const body = await parseBody(event.req, DisputeBodySchema, problem)
    if ('refusal' in body) return body.refusal
    const dispute = await takeDispute(parts, body.output)
    if (dispute === 'no_listing')
      return problem('listing-not-found', { detail: DISPUTE_REFUSALS.no_listing })
    if ('full' in dispute)
      return problem('rate-limited', {
        detail: DISPUTE_REFUSALS[dispute.full],
        headers: { 'Retry-After': '86400' },
      })
    return Response.json(dispute, {
      status: 202,
      headers: {
        'Cache-Control': 'no-store',
        'X-Content-Type-Options': 'nosniff',
        ...taken.headers,
      },
    })
  })
}
