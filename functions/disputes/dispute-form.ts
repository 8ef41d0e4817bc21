import { DisputeBodySchema, type DisputePage } from '../../src/domain/disputes/dispute.ts'
import { createFormPage, createFormRoute, type Form, refuse, takeTurn } from '../forms/form.ts'
import type { Parts } from '../parts/parts.ts'
import type { SellerRoute } from '../sellers/sessions/seller-route.ts'
import { createSessions } from '../sellers/sessions/session.ts'
import { addDispute } from './dispute-store.ts'

type Taken = Extract<DisputePage['answer'], { kind: 'taken' }>
type FormParts = Pick<Parts, 'config' | 'limits' | 'ledger' | 'clock' | 'release'>

const FULL = {
  listing: 'Many disputes about this listing already wait for a person.',
  queue: 'Many disputes already wait for a person. Try again in a few days.',
} as const

function createDisputeForm(
  parts: FormParts,
): Form<typeof DisputeBodySchema, DisputePage['sent'], Taken> {
  return {
    schema: DisputeBodySchema,
    subject: 'Disputes',
    labels: {
      listing_id: 'Listing',
      reason: 'What is wrong',
      evidence_urls: 'Pages that show it',
      receipt: 'Receipt',
    },
    toSent: (fields) => {
      const read = (name: string) => fields.get(name) ?? ''
      return {
        listing: read('listing'),
        reason: read('reason'),
        evidence: read('evidence'),
        receipt: read('receipt'),
      }
    },
    toBody: (fields) => ({
      listing_id: fields.get('listing') ?? '',
      // A text area ends its lines as mail does.
      reason: (fields.get('reason') ?? '').replaceAll('\r\n', '\n'),
      ...(fields.get('receipt') && { receipt: fields.get('receipt') }),
      evidence_urls: (fields.get('evidence') ?? '').split(/\s+/).filter((line) => line !== ''),
    }),
    async take(body, caller) {
      const refused = await takeTurn(parts, 'dispute', 'disputes', caller)
      if (refused !== null) return refused
      const { ledger, clock, release } = parts
      if (!release().listings.has(body.listing_id))
        return refuse('listing-not-found', 'No listing has this id.')
      const seller = await createSessions(parts).read(caller.cookie)
      const added = await addDispute(ledger.store, body, clock.now(), seller?.sellerId)
      if ('unknown' in added)
        return refuse('receipt-not-found', 'This listing has no receipt with this id.')
      if ('id' in added) return { kind: 'taken', id: added.id }
      return refuse('rate-limited', FULL[added.full], { headers: { 'Retry-After': '86400' } })
    },
  }
}

/** `POST /api/v1/trust/disputes {listing_id, reason, evidence_urls?}`: 202 with its id. */
export function createDisputeRoute(parts: Parts): SellerRoute {
  return createFormRoute(parts, createDisputeForm(parts), ({ id }) => ({
    status: 202,
    body: { id },
  }))
}

/** `/dispute?listing=`: the same for people. */
export function createDisputePage(parts: FormParts & Pick<Parts, 'log'>) {
  return createFormPage(parts, createDisputeForm(parts))
}
