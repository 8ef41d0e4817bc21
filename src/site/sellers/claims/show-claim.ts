import type { ClaimChecked, ClaimStarted, ClaimView } from '../../../domain/views/seller-views.ts'
import { pagePath } from '../../../domain/wire/links.ts'
import type { ClaimMethod } from '../../../domain/wire/vocabulary.ts'
import { html, type Markup } from '../../frame/html.ts'
import { toCopyBlock, toLinkedText } from '../../frame/sentences.ts'
import { showClaimSight, showLine } from '../controls/check-box.ts'
import { onClick, partOf, toElement, toTime } from '../controls/elements.ts'
import { callSellers } from '../controls/seller-api.ts'
import { CLAIM_METHOD_TEXTS, CLAIM_STATE_TEXTS } from './claim-texts.ts'

export interface ClaimActions {
  /** Starts a claim of the same listing by another proof. */
  onOther(method: ClaimMethod): Promise<void>
  onVerified(): Promise<void>
}

/**
 * One claim that waits for its proof, or has ended, on the dashboard.
 * @param methods what the server takes for its listing
 */
export function createClaimCard(
  claim: ClaimView,
  methods: readonly ClaimMethod[],
  actions: ClaimActions,
): HTMLElement {
  const others = methods.filter((each) => each !== claim.method)
  const card = toElement(toCard(claim, others))
  showClaimSight(partOf(card, 'result'), claim)
  onClick(card, 'check', () => check(card, claim, actions))
  onClick(card, 'show-steps', () => showSteps(card, claim))
  for (const other of others) onClick(card, `use-${other}`, () => actions.onOther(other))
  return card
}

function toCard(claim: ClaimView, others: readonly ClaimMethod[]): Markup {
  const { id, listing_id, method, state, created_at, expires_at } = claim
  const isPending = state === 'pending'
  const until = isPending && html`, open until ${toTime(expires_at)}`
  const buttons = others.map(
    (other) => html`
      <button type="button" data-use-${other}>Use ${CLAIM_METHOD_TEXTS[other].instead} instead</button>`,
  )
  return html`
    <li class="panel claim" data-claim-id="${id}">
      <div class="card-head">
        <h3><a href="${pagePath(listing_id)}">${listing_id}</a></h3>
        <span class="tag" data-state>${CLAIM_STATE_TEXTS[state]}</span>
      </div>
      <p class="small soft">${CLAIM_METHOD_TEXTS[method].label}, started ${toTime(created_at)}${until}</p>
      <ol class="claim-steps" data-steps hidden></ol>
      <div class="saw" role="status" data-result hidden></div>
      <p class="buttons" data-actions ${!isPending && 'hidden'}>
        <button type="button" class="primary" data-check>Check now</button>
        <button type="button" data-show-steps>Show the steps</button>
        ${buttons}
      </p>
    </li>`
}

/** What the seller publishes, and where, each line to be copied. */
export function showInstructions(card: HTMLElement, { claim, instructions }: ClaimStarted): void {
  const steps = partOf(card, 'steps')
  const made = instructions.guide.map(({ text, code }, index) => {
    const label = `step ${index + 1} of claiming ${claim.listing_id} by ${CLAIM_METHOD_TEXTS[claim.method].instead}`
    return code === undefined
      ? html`<li><p>${toLinkedText(text)}</p></li>`
      : html`<li><p>${toLinkedText(`${text}:`)}</p>${toCopyBlock(code, label)}</li>`
  })
  steps.innerHTML = html`${made}`.text
  steps.hidden = false
  partOf(card, 'show-steps').hidden = true
}

async function showSteps(card: HTMLElement, { listing_id, method }: ClaimView): Promise<void> {
  const answer = await callSellers<ClaimStarted>('POST', 'claim', { listing_id, method })
  if (answer.ok) showInstructions(card, answer.body)
  else showLine(partOf(card, 'result'), answer.detail)
}

async function check(card: HTMLElement, claim: ClaimView, actions: ClaimActions): Promise<void> {
  const answer = await callSellers<ClaimChecked>('POST', `claim/${claim.id}/check`)
  const box = partOf(card, 'result')
  if (!answer.ok) return showLine(box, answer.detail)
  const { claim: after, result } = answer.body
  showClaimSight(box, { ...after, last_check: result })
  partOf(card, 'state').textContent = CLAIM_STATE_TEXTS[after.state]
  partOf(card, 'actions').hidden = after.state !== 'pending'
  if (after.state === 'verified') await actions.onVerified()
}
