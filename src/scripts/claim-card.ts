import { CLAIM_METHOD_TEXTS, CLAIM_STATE_TEXTS } from '../domain/pages/site/claim-method-texts.ts'
import type { ClaimChecked, ClaimStarted, ClaimView } from '../domain/views/seller-views.ts'
import { showOwnedListing } from './owned-listing.ts'
import { callSellers } from './seller-api.ts'

/** One claim on the dashboard, from the page's template. All text is set as text. */
export function createClaimCard(template: HTMLTemplateElement, claim: ClaimView): HTMLElement {
  const card = document.importNode(template.content, true).firstElementChild
  if (!(card instanceof HTMLElement)) throw new Error('the claim template is empty')
  card.dataset.claimId = claim.id
  const link = card.querySelector<HTMLAnchorElement>('[data-listing]')
  if (link !== null) {
    link.href = `/listing/${claim.listing_id}`
    link.textContent = claim.listing_id
  }
  const result = card.querySelector<HTMLElement>('[data-result]')
  card.querySelector('[data-check]')?.addEventListener('click', () => void check(card, claim))
  card
    .querySelector('[data-show-steps]')
    ?.addEventListener('click', () => void showSteps(card, claim, result))
  showState(card, claim)
  return card
}

/** What the seller publishes, and where. */
export function showInstructions(card: HTMLElement, { instructions }: ClaimStarted): void {
  const steps = card.querySelector<HTMLElement>('[data-steps]')
  const value = card.querySelector<HTMLElement>('[data-value]')
  const code = value?.querySelector('code')
  if (steps === null || value === null || code == null) return
  steps.replaceChildren(
    ...instructions.steps.map((text) => {
      const item = document.createElement('li')
      item.textContent = text
      return item
    }),
  )
  code.textContent = instructions.value
  steps.hidden = false
  value.hidden = false
}

async function showSteps(
  card: HTMLElement,
  { listing_id, method }: ClaimView,
  result: HTMLElement | null,
): Promise<void> {
  const answer = await callSellers<ClaimStarted>('POST', 'claim', { listing_id, method })
  if (answer.ok) showInstructions(card, answer.body)
  else showLines(result, [answer.detail])
}

async function check(card: HTMLElement, claim: ClaimView): Promise<void> {
  const result = card.querySelector<HTMLElement>('[data-result]')
  const button = card.querySelector<HTMLButtonElement>('[data-check]')
  if (button !== null) button.disabled = true
  const answer = await callSellers<ClaimChecked>('POST', `claim/${claim.id}/check`)
  if (button !== null) button.disabled = false
  if (!answer.ok) return showLines(result, [answer.detail])
  const { verified, expected, observed, next } = answer.body.result
  showState(card, answer.body.claim)
  showLines(
    result,
    verified
      ? ['Proven: this listing is yours.', next]
      : [`Not proven yet. Expected: ${expected}`, `What we saw: ${observed ?? 'nothing'}`, next],
  )
}

function showState(card: HTMLElement, claim: ClaimView): void {
  const state = card.querySelector('[data-state]')
  const facts = card.querySelector('[data-facts]')
  const actions = card.querySelector<HTMLElement>('[data-actions]')
  if (state !== null) {
    state.textContent = CLAIM_STATE_TEXTS[claim.state]
    state.classList.toggle('earned', claim.state === 'verified')
  }
  if (facts !== null) facts.textContent = toFacts(claim)
  if (actions !== null) actions.hidden = claim.state !== 'pending'
  if (claim.state === 'verified') void showOwnedListing(card, claim.listing_id)
}

function toFacts({ method, created_at, expires_at, verified_at, state }: ClaimView): string {
  const proof = CLAIM_METHOD_TEXTS[method].label
  if (verified_at !== undefined) return `${proof}, verified ${verified_at.slice(0, 10)}`
  const until =
    state === 'pending' ? `, open until ${expires_at.slice(0, 16).replace('T', ' ')} UTC` : ''
  return `${proof}, started ${created_at.slice(0, 10)}${until}`
}

function showLines(box: HTMLElement | null, lines: readonly string[]): void {
  if (box === null) return
  box.replaceChildren(
    ...lines.map((text) => {
      const line = document.createElement('p')
      line.textContent = text
      return line
    }),
  )
  box.hidden = false
}
