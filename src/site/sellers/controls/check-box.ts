import type { ClaimView } from '../../../domain/views/seller-views.ts'
import { make, makeSentence, makeTime } from './elements.ts'

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
  box.className = `saw ${verified ? 'good' : ''}`
  box.replaceChildren(
    make('p', 'saw-title', title),
    make(
      'dl',
      '',
      checked_at === undefined ? [] : makeRow('Looked', [makeTime(checked_at)]),
      makeRow('Expected', makeSentence(expected)),
      makeRow('What we saw', [showObserved(observed)]),
      next === undefined ? [] : makeRow('Next', makeSentence(next)),
    ),
  )
  box.hidden = false
}

function makeRow(term: string, nodes: readonly Node[]): HTMLElement {
  return make('div', '', make('dt', '', term), make('dd', '', nodes))
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
  box.className = 'saw'
  box.replaceChildren(make('p', '', makeSentence(detail)))
  box.hidden = false
}

function showObserved(observed: string | null): Node {
  if (observed === null) return document.createTextNode('nothing')
  const code = make('code', '', observed)
  code.dir = 'auto'
  return code
}
