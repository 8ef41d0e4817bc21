import type { ClaimChecked, ClaimStarted, ClaimView } from '../../../domain/views/seller-views.ts'
import { CLAIM_METHODS, type ClaimMethod } from '../../../domain/wire/vocabulary.ts'
import { showClaimSight, showLine } from '../controls/check-box.ts'
import {
  cloneTemplate,
  fill,
  make,
  makeButton,
  makeCopyBlock,
  makeSentence,
  makeTime,
  partOf,
  whileBusy,
} from '../controls/elements.ts'
import { callSellers } from '../controls/seller-api.ts'
import { CLAIM_METHOD_TEXTS, CLAIM_STATE_TEXTS } from './claim-texts.ts'

export interface ClaimActions {
  /** Starts a claim of the same listing by another proof. */
  onOther(method: ClaimMethod): Promise<void>
  onVerified(): Promise<void>
}

/** One claim that waits for its proof, or has ended, on the dashboard. */
export function createClaimCard(claim: ClaimView, actions: ClaimActions): HTMLElement {
  const card = cloneTemplate('claim')
  const { listing_id, method, state } = claim
  card.dataset.claimId = claim.id
  const link = partOf<HTMLAnchorElement>(card, 'listing')
  link.href = `/listing/${listing_id}`
  link.textContent = listing_id
  partOf(card, 'state').textContent = CLAIM_STATE_TEXTS[state]
  for (const fact of toFacts(claim)) partOf(card, 'facts').append(fact)
  showClaimSight(partOf(card, 'result'), claim)
  const buttons = partOf(card, 'actions')
  buttons.hidden = state !== 'pending'
  partOf(card, 'check').addEventListener('click', () => void check(card, claim, actions))
  partOf(card, 'show-steps').addEventListener('click', () => void showSteps(card, claim))
  for (const other of CLAIM_METHODS.filter((each) => each !== method)) {
    const text = `Use ${CLAIM_METHOD_TEXTS[other].instead} instead`
    buttons.append(
      makeButton(text, (button) => void whileBusy(button, () => actions.onOther(other))),
    )
  }
  return card
}

/** What the seller publishes, and where, each line to be copied. */
export function showInstructions(card: HTMLElement, { claim, instructions }: ClaimStarted): void {
  const steps = partOf(card, 'steps')
  fill(
    steps,
    instructions.guide.map(({ text, code }, index) => {
      const said = make('p', '', makeSentence(code === undefined ? text : `${text}:`))
      const label = `step ${index + 1} of claiming ${claim.listing_id} by ${CLAIM_METHOD_TEXTS[claim.method].instead}`
      return code === undefined
        ? make('li', '', said)
        : make('li', '', said, makeCopyBlock(code, label))
    }),
  )
  steps.hidden = false
  partOf(card, 'show-steps').hidden = true
}

async function showSteps(card: HTMLElement, { listing_id, method }: ClaimView): Promise<void> {
  const button = partOf<HTMLButtonElement>(card, 'show-steps')
  const answer = await whileBusy(button, () =>
    callSellers<ClaimStarted>('POST', 'claim', { listing_id, method }),
  )
  if (answer.ok) showInstructions(card, answer.body)
  else showLine(partOf(card, 'result'), answer.detail)
}

async function check(card: HTMLElement, claim: ClaimView, actions: ClaimActions): Promise<void> {
  const button = partOf<HTMLButtonElement>(card, 'check')
  const answer = await whileBusy(button, () =>
    callSellers<ClaimChecked>('POST', `claim/${claim.id}/check`),
  )
  const box = partOf(card, 'result')
  if (!answer.ok) return showLine(box, answer.detail)
  const { claim: after, result } = answer.body
  showClaimSight(box, { ...after, last_check: result })
  partOf(card, 'state').textContent = CLAIM_STATE_TEXTS[after.state]
  partOf(card, 'actions').hidden = after.state !== 'pending'
  if (after.state === 'verified') await actions.onVerified()
}

function toFacts({ method, created_at, expires_at, state }: ClaimView): Node[] {
  const proof = document.createTextNode(`${CLAIM_METHOD_TEXTS[method].label}, started `)
  const facts = [proof, makeTime(created_at)]
  return state === 'pending'
    ? [...facts, document.createTextNode(', open until '), makeTime(expires_at)]
    : facts
}
