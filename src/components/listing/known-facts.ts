import type { Switches } from '../../domain/derived/switches.ts'
import { runsLocallyOnly } from '../../domain/listing/invoke.ts'
import { railsOf } from '../../domain/listing/pricing.ts'
import { SESSIONS_NOT_COUNTED } from '../../domain/settlement/schemes/schemes.ts'
import { toKnownSentence } from '../../domain/views/known-view.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { html, type Markup } from '../frame/html.ts'

/** One line on a listing: a known fact, or an error that was seen. */
export interface KnownFact {
  isKnown: boolean
  text: string
}

export function known(isKnown: boolean, yes: string, no: string): KnownFact {
  return { isKnown, text: isKnown ? yes : no }
}

/** Facts as a list, with a filled dot for known ones. */
export function toKnownList(facts: readonly { isKnown: boolean; text: string | Markup }[]): Markup {
  const items = facts.map(
    ({ isKnown, text }) => html`
      <li><span class="dot${!isKnown && ' missing'}"></span> <span>${text}</span></li>`,
  )
  return html`<ul class="known">${items}</ul>`
}

/**
 * Who owns a listing, whether it answers and who paid, as one sentence; then what is not known of
 * calling it.
 */
export function toStanding(
  view: ListingView,
  calls: { title: string; total: number } | null,
  switches: Pick<Switches, 'sellers' | 'payments' | 'trust'>,
): string {
  const { payments, trust } = switches
  const open = [
    calls === null && 'what it can do in detail',
    payments && isPriceOpen(view) && 'what it costs',
    view.auth.type === 'unknown' && 'how callers sign in',
  ].filter((text) => text !== false)
  const sentences = [
    toKnownSentence(view.known, switches),
    open.length > 0 && `Not known yet: ${joinWords(open)}.`,
    trust && railsOf(view.pricing).includes('mpp') && SESSIONS_NOT_COUNTED,
  ]
  return sentences.filter((text) => text !== false && text !== '').join(' ')
}

const isPaid = ({ pricing }: ListingView) => pricing.model === 'per_call'

/** Nobody charges for calls of what runs on one's own machine. */
const isPriceOpen = (view: ListingView) =>
  !isPaid(view) && view.cost === 'unknown' && !runsLocallyOnly(view)

/** @example joinWords(['a', 'b', 'c']) → 'a, b and c' */
function joinWords(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(words)
}
