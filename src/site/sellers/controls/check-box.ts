import type { ClaimView } from '../../../domain/views/seller-views.ts'
import { html, type Markup } from '../../frame/html.ts'
import { toLinkedText } from '../../frame/sentences.ts'
import { toTime } from './elements.ts'

/** What a check saw. `observed` is a stranger's text: it is shown as it is, in a box of its own. */
export interface Sight {
  title: string
  verified: boolean
  checked_at?: string
  expected: string
  observed: string | null
  next?: string
}

export function showSight(box: HTMLElement, sight: Sight): void {
  const { title, verified, checked_at, expected, observed, next } = sight
  const rows = [
    ['Looked', checked_at === undefined ? null : toTime(checked_at)],
    ['Expected', toLinkedText(expected)],
    ['What we saw', observed === null ? 'nothing' : html`<code dir="auto">${observed}</code>`],
    ['Next', next === undefined ? null : toLinkedText(next)],
  ] as const
  const said = rows.filter(([, text]) => text !== null)
  const lines = said.map(([term, text]) => html`<div><dt>${term}</dt><dd>${text}</dd></div>`)
  show(box, html`<p class="saw-title">${title}</p><dl>${lines}</dl>`, verified)
}

/** The last look for the proof of a claim; nothing where nobody looked yet. */
export function showClaimSight(box: HTMLElement, claim: ClaimView): void {
  const { last_check, state } = claim
  if (last_check === undefined) return
  const missing = state === 'verified' ? 'The proof is not there any more.' : 'Not proven yet.'
  const title = last_check.verified ? 'Proven: this listing is yours.' : missing
  showSight(box, { ...last_check, title })
}

/** One line, where there is nothing that was looked at: most say what went wrong. */
export function showLine(box: HTMLElement, detail: string): void {
  show(box, html`<p>${toLinkedText(detail)}</p>`)
}

function show(box: HTMLElement, { text }: Markup, isGood = false): void {
  box.className = isGood ? 'saw good' : 'saw'
  box.innerHTML = text
  box.hidden = false
}
