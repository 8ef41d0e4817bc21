import { toCountText } from '../../../domain/operation/price-text.ts'
import type { ListingView } from '../../../domain/views/listing-view.ts'
import type { Analytics, ClaimStarted, ClaimView, Me } from '../../../domain/views/seller-views.ts'
import { CLAIM_METHODS, type ClaimMethod } from '../../../domain/wire/vocabulary.ts'
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
  await showStarted(answer)
  if (answer.ok) rememberListing('')
})
onClick(document, 'sign-out', signOut)
form.querySelector('[name=listing_id]')?.addEventListener('change', offerMethods)
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
  await showClaims(claims)
  const wanted = recallListing()
  const box = form.querySelector<HTMLInputElement>('[name=listing_id]')
  if (box !== null && !claims.some(({ listing_id }) => listing_id === wanted)) box.value = wanted
  await offerMethods()
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

async function showClaims(claims: readonly ClaimView[]): Promise<void> {
  const pending = claims.filter(({ state }) => state === 'pending')
  const ended = claims.filter(({ state }) => state !== 'pending' && state !== 'verified')
  fill(partOf(document, 'claims'), await Promise.all(pending.map(createCard)))
  fill(partOf(document, 'ended-claims'), await Promise.all(ended.map(createCard)))
  partOf(document, 'pending').hidden = pending.length === 0
  partOf(document, 'ended').hidden = ended.length === 0
  partOf(document, 'no-claims').hidden = claims.length > 0
}

async function createCard(claim: ClaimView): Promise<HTMLElement> {
  const methods = claim.state === 'pending' ? await readMethods(claim.listing_id) : []
  return createClaimCard(claim, methods, {
    onOther: async (method) => showStarted(await startClaim(claim.listing_id, method)),
    onVerified: show,
  })
}

function startClaim(listing_id: string, method: string): Promise<Answer<ClaimStarted>> {
  return callSellers<ClaimStarted>('POST', 'claim', { listing_id, method })
}

async function showStarted(answer: Answer<ClaimStarted>): Promise<void> {
  const status = partOf(form, 'status')
  status.textContent = answer.ok ? 'Claim started. The steps are below.' : answer.detail
  if (!answer.ok || answer.body.claim.state !== 'pending') return
  const { claim } = answer.body
  const claims = partOf(document, 'claims')
  claims.querySelector(`[data-claim-id="${CSS.escape(claim.id)}"]`)?.remove()
  const card = await createCard(claim)
  claims.prepend(card)
  showInstructions(card, answer.body)
  partOf(document, 'pending').hidden = false
  partOf(document, 'no-claims').hidden = true
}

/** Proofs that the server refuses for the listing in the form cannot be chosen. */
async function offerMethods(): Promise<void> {
  const id = form.querySelector<HTMLInputElement>('[name=listing_id]')?.value.trim() ?? ''
  const methods = await readMethods(id)
  const options = [...form.querySelectorAll<HTMLOptionElement>('[name=method] option')]
  for (const option of options) {
    option.disabled = !methods.some((method) => method === option.value)
    option.hidden = option.disabled
  }
  const chosen = options.find(({ selected }) => selected)
  const first = options.find(({ disabled }) => !disabled)
  if (chosen?.disabled === true && first !== undefined) first.selected = true
}

/** All of them where the listing cannot be read: the server says what is wrong. */
async function readMethods(id: string): Promise<readonly ClaimMethod[]> {
  const methods = id === '' ? undefined : (await readListing(id))?.claim.methods
  return methods === undefined || methods.length === 0 ? CLAIM_METHODS : methods
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
