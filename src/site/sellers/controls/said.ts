import type { Said } from '../../../domain/views/seller-pages.ts'
import type { ClaimView } from '../../../domain/views/seller-views.ts'
import { html, type Markup } from '../../frame/html.ts'
import { toLinkedText } from '../../frame/sentences.ts'

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
