import { toCountText } from '../../../domain/operation/price-text.ts'
import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { Analytics, ClaimStarted, ClaimView, Me } from '../../../domain/views/seller-views.ts'
import { createOwnedListing } from '../claims/owned-listing.ts'
import { createClaimCard, showInstructions } from '../claims/show-claim.ts'
import { fill, onClick, onSubmit, partOf } from '../controls/elements.ts'
import {
  type Answer,
  callSellers,
  mayBeSignedIn,
  recallListing,
  rememberListing,
} from '../controls/seller-api.ts'

/** The seller's own page: everything on it comes from the JSON endpoints. */
const form = partOf<HTMLFormElement>(document, 'claim-form')
if (mayBeSignedIn()) void show()
else showInstead('signed-out')
onSubmit(form, async (read) => {
  const answer = await startClaim(read('listing_id'), read('method'))
  showStarted(answer)
  if (answer.ok) rememberListing('')
})
onClick(document, 'sign-out', signOut)
// A page kept for "back" would show what belongs to somebody who has signed out since.
addEventListener('pageshow', ({ persisted }) => persisted && location.reload())

async function show(): Promise<void> {
  const me = await callSellers<Me>('GET', 'me')
  if (!me.ok)
    return me.status === 401 ? showInstead('signed-out') : showInstead('problem', me.detail)
  const { seller, claims, stats } = me.body
  const listings = toCountText(stats.listings, 'listing')
  partOf(document, 'account').textContent =
    `Signed in as ${seller.email}. Last 30 days: ${stats.clicks_30d} clicks and ${stats.calls_30d} relayed calls on ${listings}.`
  await showOwned(me.body)
  showClaims(claims)
  const wanted = recallListing()
  const box = form.querySelector<HTMLInputElement>('[name=listing_id]')
  if (box !== null && !claims.some(({ listing_id }) => listing_id === wanted)) box.value = wanted
  partOf(document, 'content').hidden = false
}

async function showOwned({ claims, payouts, unlisted }: Me): Promise<void> {
  const verified = claims.filter(({ state }) => state === 'verified')
  const analytics =
    verified.length === 0 ? null : await callSellers<Analytics>('GET', 'me/analytics')
  const numbers = analytics?.ok ? analytics.body.basic.listings : []
  const list = partOf(document, 'owned-list')
  const cards = await Promise.all(
    verified.map(async (claim) => {
      const id = claim.listing_id
      return createOwnedListing({
        claim,
        view: unlisted.includes(id) ? null : await readListing(id),
        payouts: payouts.filter(({ listing_id }) => listing_id === id),
        numbers: numbers.find(({ listing_id }) => listing_id === id) ?? null,
        edit: list.dataset.edit ?? '',
      })
    }),
  )
  fill(list, cards)
}

function showClaims(claims: readonly ClaimView[]): void {
  const pending = claims.filter(({ state }) => state === 'pending')
  const ended = claims.filter(({ state }) => state !== 'pending' && state !== 'verified')
  fill(partOf(document, 'claims'), pending.map(createCard))
  fill(partOf(document, 'ended-claims'), ended.map(createCard))
  partOf(document, 'pending').hidden = pending.length === 0
  partOf(document, 'ended').hidden = ended.length === 0
  partOf(document, 'no-claims').hidden = claims.length > 0
}

function createCard(claim: ClaimView): HTMLElement {
  return createClaimCard(claim, {
    onOther: async (method) => showStarted(await startClaim(claim.listing_id, method)),
    onVerified: show,
  })
}

function startClaim(listing_id: string, method: string): Promise<Answer<ClaimStarted>> {
  return callSellers<ClaimStarted>('POST', 'claim', { listing_id, method })
}

function showStarted(answer: Answer<ClaimStarted>): void {
  const status = partOf(form, 'status')
  status.textContent = answer.ok ? 'Claim started. The steps are below.' : answer.detail
  if (!answer.ok || answer.body.claim.state !== 'pending') return
  const { claim } = answer.body
  const claims = partOf(document, 'claims')
  claims.querySelector(`[data-claim-id="${CSS.escape(claim.id)}"]`)?.remove()
  const card = createCard(claim)
  claims.prepend(card)
  showInstructions(card, answer.body)
  partOf(document, 'pending').hidden = false
  partOf(document, 'no-claims').hidden = true
}

/** Null when it left the directory a moment ago. */
async function readListing(id: string): Promise<ListingView | null> {
  const response = await fetch(`/api/v1/listings/${encodeURIComponent(id)}`).catch(() => null)
  if (response === null || !response.ok) return null
  const listing: ListingView = await response.json()
  return listing
}

async function signOut(): Promise<void> {
  await callSellers('DELETE', 'session')
  location.assign('/sellers')
}

/** @param detail what it says, where that is not on the page already */
function showInstead(name: 'signed-out' | 'problem', detail?: string): void {
  partOf(document, 'account').textContent = ''
  const part = partOf(document, name)
  if (detail !== undefined) part.textContent = detail
  part.hidden = false
}
