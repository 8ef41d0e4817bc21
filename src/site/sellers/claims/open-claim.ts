import type { ClaimCard, Said } from '../../../domain/views/seller-pages.ts'
import type { ClaimStarted } from '../../../domain/views/seller-views.ts'
import { pagePath } from '../../../domain/wire/links.ts'
import { CLAIM_METHODS, type ClaimMethod } from '../../../domain/wire/vocabulary.ts'
import { html, type Markup } from '../../frame/html.ts'
import { toCopyBlock, toLinkedText } from '../../frame/sentences.ts'
import { toClaimSight, toForm, toLine, toTime } from '../controls/said.ts'
import { CLAIM_METHOD_TEXTS, CLAIM_STATE_TEXTS } from './claim-texts.ts'

/** Proofs that the server takes for a listing; all of them where it is not known. */
export function methodsOf(view: ClaimCard['view']): readonly ClaimMethod[] {
  const methods = view?.claim.methods ?? []
  return methods.length === 0 ? CLAIM_METHODS : methods
}

/**
 * One claim that waits for its proof, or has ended, on the dashboard.
 * @param said what the last form came to; shown where it is about this claim
 */
export function toClaimCard({ claim, view }: ClaimCard, said: Said | null): Markup {
  const { id, listing_id, method, state, created_at, expires_at } = claim
  const isPending = state === 'pending'
  const here = said?.at === id ? said : null
  const until = isPending && html`, open until ${toTime(expires_at)}`
  return html`
    <li class="panel claim" id="claim-${id}">
      <div class="card-head">
        <h3><a href="${pagePath(listing_id)}">${listing_id}</a></h3>
        <span class="tag">${CLAIM_STATE_TEXTS[state]}</span>
      </div>
      <p class="small soft">${CLAIM_METHOD_TEXTS[method].label}, started ${toTime(created_at)}${until}</p>
      ${here?.started && toSteps(here.started)}
      ${toLine(here) || toClaimSight(claim)}
      ${isPending && toButtons({ claim, view }, here?.started === undefined)}
    </li>`
}

function toButtons({ claim, view }: ClaimCard, hasSteps: boolean): Markup {
  const { id, listing_id, method } = claim
  const start = (by: ClaimMethod, label: string) =>
    toForm('claim', { claim: id, listing_id, method: by }, html`<button>${label}</button>`)
  const others = methodsOf(view).filter((each) => each !== method)
  return html`
    <div class="buttons">
      ${toForm('check', { claim: id }, html`<button class="primary">Check now</button>`)}
      ${hasSteps && start(method, 'Show the steps')}
      ${others.map((other) => start(other, `Use ${CLAIM_METHOD_TEXTS[other].instead} instead`))}
    </div>`
}

/** What the seller publishes, and where, each line to be copied. */
function toSteps({ claim, instructions }: ClaimStarted): Markup {
  const steps = instructions.guide.map(({ text, code }, index) => {
    const label = `step ${index + 1} of claiming ${claim.listing_id} by ${CLAIM_METHOD_TEXTS[claim.method].instead}`
    return code === undefined
      ? html`<li><p>${toLinkedText(text)}</p></li>`
      : html`<li><p>${toLinkedText(`${text}:`)}</p>${toCopyBlock(code, label)}</li>`
  })
  return html`<ol class="claim-steps">${steps}</ol>`
}
