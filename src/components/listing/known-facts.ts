import type { Switches } from '../../domain/derived/tables.ts'
import { runsLocallyOnly } from '../../domain/listing/invoke.ts'
import { railsOf } from '../../domain/listing/pricing.ts'
import { SESSIONS_NOT_COUNTED } from '../../domain/trust/payments.ts'
import { toKnownSentence } from '../../domain/views/known-view.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'

/** One line on a listing: a known fact, or an error that was seen. */
export interface KnownFact {
  isKnown: boolean
  text: string
}

export function known(isKnown: boolean, yes: string, no: string): KnownFact {
  return { isKnown, text: isKnown ? yes : no }
}

/**
 * Who owns a listing, whether it answers and who paid, as one sentence; then what is not known of
 * calling it.
 */
export function toStatusText(
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

/** Nobody is charged for what runs at home, nor without an account, a key or a payment. */
const isPriceOpen = (view: ListingView) =>
  !isPaid(view) && view.cost === 'unknown' && view.auth.type !== 'none' && !runsLocallyOnly(view)

/** @example joinWords(['a', 'b', 'c']) → 'a, b and c' */
function joinWords(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(words)
}
