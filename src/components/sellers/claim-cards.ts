import type { ClaimCard, Said } from '../../domain/views/seller-pages.ts'
import type { ClaimStarted, ClaimView } from '../../domain/views/seller-views.ts'
import { pagePath } from '../../domain/wire/links.ts'
import { CLAIM_METHODS, type ClaimMethod, type ClaimState } from '../../domain/wire/vocabulary.ts'
import { html, type Markup } from '../frame/html.ts'
import { toCopyBlock, toLinkedText } from '../frame/sentences.ts'

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

/** The proofs of a claim, for sellers. */
export const CLAIM_METHOD_TEXTS: Record<
  ClaimMethod,
  { label: string; instead: string; text: string }
> = {
  well_known: {
    label: 'A file on your host',
    instead: 'a file',
    text: 'Put a token into a text file under /.well-known/ on the host of the listing.',
  },
  dns_txt: {
    label: 'A DNS record',
    instead: 'a DNS record',
    text: 'Publish the token in a TXT record under the host of the listing.',
  },
  contact_email: {
    label: 'An address at your domain',
    instead: 'an email address',
    text: 'Sign in with an email address at the domain of the listing.',
  },
  oidc: {
    label: 'A workflow of your repository',
    instead: 'a workflow',
    text: 'For a listing on GitHub or GitHub Pages: a workflow of the repository sends its identity token.',
  },
}

const CLAIM_STATE_TEXTS: Record<ClaimState, string> = {
  pending: 'waiting for proof',
  verified: 'verified',
  expired: 'expired: no proof within 72 hours',
  superseded: 'another seller proved control later',
  lapsed: 'the proof has been gone for a week',
}

/** The result of a check. `observed` is a stranger's text: it is shown unchanged. */
interface Sight {
  title: string
  verified: boolean
  checked_at?: string
  expected: string
  observed: string | null
  next?: string
}

export function toSight(sight: Sight): Markup {
  const { title, verified, checked_at, expected, observed, next } = sight
  const rows = [
    ['Looked', checked_at === undefined ? null : toTime(checked_at)],
    ['Expected', toLinkedText(expected)],
    ['What we saw', observed === null ? 'nothing' : html`<code dir="auto">${observed}</code>`],
    ['Next', next === undefined ? null : toLinkedText(next)],
  ] as const
  const said = rows.filter(([, text]) => text !== null)
  const lines = said.map(([term, text]) => html`<div><dt>${term}</dt><dd>${text}</dd></div>`)
  return html`
    <div class="saw${verified && ' good'}" role="status">
      <p class="saw-title">${title}</p><dl>${lines}</dl></div>`
}

/** The last check of a claim's proof; false where there was none yet. */
export function toClaimSight({ last_check, state }: ClaimView): Markup | false {
  if (last_check === undefined) return false
  const missing = state === 'verified' ? 'The proof is gone.' : 'Not proven yet.'
  const title = last_check.verified ? 'Proven: this listing is yours.' : missing
  return toSight({ ...last_check, title })
}

/** The outcome of the last form in a line; false where it is shown elsewhere. */
export function toLine(said: Said | null | undefined): Markup | false {
  const text = said?.refused?.reason ?? said?.line
  return (
    text !== undefined && html`<div class="saw" role="status"><p>${toLinkedText(text)}</p></div>`
  )
}

/**
 * A form of the dashboard. Its answer is the page again, at the card of the claim.
 *
 * @param act its action, as in the server's table
 */
export function toForm(
  act: string,
  { claim, ...fields }: { claim: string } & Record<string, string>,
  content: Markup,
): Markup {
  const hidden = Object.entries({ do: act, claim_id: claim, ...fields }).map(
    ([name, value]) => html`<input type="hidden" name="${name}" value="${value}">`,
  )
  return html`
    <form method="post" action="/sellers/dashboard#claim-${claim}">${hidden}${content}</form>`
}

/** @example toTime('2026-11-22T09:20:13.000Z') shows “2026-11-22 09:20 UTC” */
export function toTime(instant: string): Markup {
  return html`<time datetime="${instant}">${instant.slice(0, 16).replace('T', ' ')} UTC</time>`
}
