import type { ListingView } from '../../../src/domain/views/listing-view.ts'
import type {
  Analytics,
  ClaimCheckResult,
  ClaimView,
  KnownPayout,
} from '../../../src/domain/views/seller-views.ts'
import { CLAIM_METHODS, CLAIM_STATES } from '../../../src/domain/wire/vocabulary.ts'
import { html } from '../../../src/site/frame/html.ts'
import { createOwnedListing } from '../../../src/site/sellers/claims/owned-listing.ts'
import { createClaimCard, showInstructions } from '../../../src/site/sellers/claims/show-claim.ts'
import { partOf, toElement } from '../../../src/site/sellers/controls/elements.ts'

/** The seller's cards in every state, for the design page: nothing in them is anybody's. */
const AT = '2026-01-02T03:04:05.000Z'
const ADDRESS = '0x1111111111111111111111111111111111111111'
type SeenDelivery = Analytics['basic']['listings'][number]['deliveries'][number]
const place = partOf(document, 'design-sellers')
const view = await readListing(place.dataset.designSellers ?? '')

for (const state of CLAIM_STATES.filter((each) => each !== 'verified')) {
  const claim = toClaim({ state })
  const card = createClaimCard(claim, CLAIM_METHODS, {
    onOther: async () => {},
    onVerified: async () => {},
  })
  place.append(toList(card))
}
for (const method of CLAIM_METHODS) place.append(createStarted(method))
for (const payouts of [[], toPayouts()])
  for (const verified of [true, false])
    place.append(
      createOwnedListing({
        claim: toClaim({ state: 'verified', last_check: toCheck(verified) }),
        view: payouts.length === 0 && !verified ? null : view,
        payouts,
        numbers: toNumbers(verified ? 7 : 0),
        edit: 'https://code.example/waypost/edit/main/{file}',
      }),
    )

async function readListing(id: string): Promise<ListingView> {
  const listing: ListingView = await (await fetch(`/api/v1/listings/${id}`)).json()
  return listing
}

function toList(card: HTMLElement): HTMLElement {
  const list = toElement(html`<ul class="claim-list"></ul>`)
  list.append(card)
  return list
}

function createStarted(method: ClaimView['method']): HTMLElement {
  const claim = toClaim({ method, last_check: toCheck(false) })
  const card = createClaimCard(claim, CLAIM_METHODS, {
    onOther: async () => {},
    onVerified: async () => {},
  })
  const guide = [
    { text: 'What is to be published', code: 'token' },
    { text: 'A command to see it', code: 'curl -i https://service.example/' },
    { text: 'Run the check.' },
  ]
  showInstructions(card, {
    claim,
    token: 'token',
    instructions: { method, value: 'token', steps: [], guide },
  })
  return toList(card)
}

function toClaim(change: Partial<ClaimView>): ClaimView {
  return {
    id: 'claim',
    listing_id: 'x402.service',
    method: 'well_known',
    state: 'pending',
    created_at: AT,
    expires_at: AT,
    ...change,
  }
}

function toCheck(verified: boolean): ClaimCheckResult {
  return {
    verified,
    method: 'well_known',
    checked_at: AT,
    expected: 'https://service.example/file answers 200 with the token',
    observed: verified ? 'token' : 'status 404, text/html: <script>alert(1)</script>',
    reason: verified ? null : 'http_status',
    next: verified ? 'Nothing: the listing is yours.' : 'The file must answer with status 200.',
  }
}

function toPayouts(): KnownPayout[] {
  const known = { listing_id: 'x402.service', payout: `eip155:8453:${ADDRESS}` }
  return [
    { ...known, published: true, counts: true, proven_at: AT },
    { ...known, published: true, counts: true },
    { ...known, published: true, counts: false },
  ]
}

function toNumbers(clicks: number) {
  const date = new Date().toISOString().slice(0, 10)
  return {
    deliveries: clicks === 0 ? [] : toDeliveries(),
    listing_id: 'x402.service',
    clicks: { total: clicks, by_day: [{ date, clicks }], by_src: { web: clicks } },
    calls: clicks,
    search_impressions: clicks,
    last_30_days: { clicks, calls: clicks, search_impressions: clicks },
  }
}

function toDeliveries(): SeenDelivery[] {
  const call = 'GET https://service.example/api/v1/forecast'
  const common = { at: AT, call, operation: 'sha256', status: 200, transaction: null, ms: 210 }
  const reason = 'At "forecast.days": expected an array, and there was none.'
  return [
    { ...common, id: 'receipt-3', verdict: 'other_shape', reason },
    { ...common, id: 'receipt-2', verdict: 'canned', reason, dispute: 'accepted' },
    { ...common, id: 'receipt-1', verdict: 'as_declared', reason: 'It is what is declared.' },
  ]
}
