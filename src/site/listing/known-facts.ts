import type { Switches } from '../../domain/derived/switches.ts'
import { TIER_LABELS } from '../../domain/derived/tiers.ts'
import { runsLocallyOnly } from '../../domain/listing/invoke.ts'
import { railsOf } from '../../domain/listing/pricing.ts'
import { toCountText } from '../../domain/operation/price-text.ts'
import { SESSIONS_NOT_COUNTED } from '../../domain/settlement/schemes/schemes.ts'
import type { PackageRun, Probe } from '../../domain/trust/evidence.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { isUsed } from '../evidence/signal-words.ts'
import { html, type Markup } from '../frame/html.ts'
import { PROTOCOL_NAMES } from '../rows/decision-facts.ts'
import { toRunWords } from '../rows/package-run-words.ts'

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

interface Seen {
  /** Oldest first. */
  probes: readonly Pick<Probe, 'at' | 'outcome' | 'protocol'>[]
  calls: { title: string; total: number } | null
  /** Where its tools or skills were last read. */
  from?: string | undefined
}

/** Known and unknown facts about a listing's standing: a list and a few sentences, in one place. */
export function toStanding(
  view: ListingView,
  { probes, calls, from }: Seen,
  { sellers, payments, trust }: Pick<Switches, 'sellers' | 'payments' | 'trust'>,
) {
  const heard = toHeard(probes, view.package_run)
  const earned = (trust ? view.tiers.earned : []).map((id) =>
    known(true, `${TIER_LABELS[id]}: earned`, ''),
  )
  const isClaimed = view.status === 'claimed'
  const facts = [
    ...(heard === null ? [] : [heard]),
    ...(isClaimed ? [known(true, 'The owner proved the domain', '')] : []),
    ...earned,
  ]
  const open = [
    heard === null &&
      isUnread(from) &&
      (runsLocallyOnly(view) ? 'whether it runs' : 'whether it answers'),
    calls === null && 'what it can do in detail',
    payments && isPriceOpen(view) && 'what it costs',
    view.auth.type === 'unknown' && 'how callers sign in',
    trust &&
      view.trust.evidence === 'no_payment_data' &&
      isPaid(view) &&
      !isUsed(view.signals) &&
      'whether anybody has paid',
    sellers && !isClaimed && 'who owns it',
  ].filter((text) => text !== false)
  const sentences = [
    open.length > 0 && `Not known yet: ${joinWords(open)}.`,
    trust && railsOf(view.pricing).includes('mpp') && SESSIONS_NOT_COUNTED,
  ].filter((text) => text !== false)
  return { facts, sentences: sentences.join(' ') }
}

/** What read its card or its tools from the service itself had an answer of it. */
const isUnread = (from: string | undefined) => from === undefined || from === 'catalog'

const isPaid = ({ pricing }: ListingView) => pricing.model === 'per_call'

/** Nobody charges for calls of what runs on one's own machine. */
const isPriceOpen = (view: ListingView) =>
  !isPaid(view) && view.cost === 'unknown' && !runsLocallyOnly(view)

/** @example joinWords(['a', 'b', 'c']) → 'a, b and c' */
function joinWords(words: readonly string[]): string {
  return new Intl.ListFormat('en-GB').format(words)
}

/**
 * Whether it answered the last meaningful probe; null without one.
 *
 * @param probes oldest first
 */
export function toHeard(probes: Seen['probes'], run?: PackageRun): KnownFact | null {
  const judged = probes.filter(({ outcome }) => outcome !== 'unknown' && outcome !== 'unprobeable')
  const last = judged.at(-1)
  if (last === undefined && run !== undefined)
    return {
      isKnown: run.outcome === 'runs_as_declared',
      text: `Its package: ${toRunWords(run).result.toLowerCase()}`,
    }
  if (last === undefined) return null
  if (last.outcome === 'spoke')
    return { isKnown: true, text: `Speaks ${PROTOCOL_NAMES[last.protocol]}: we asked it` }
  if (last.outcome === 'gated') return { isKnown: true, text: 'Answers, and asks for a key first' }
  const spoke = judged.findLast(({ outcome }) => outcome === 'spoke')
  return {
    isKnown: false,
    text:
      spoke === undefined
        ? `We asked ${toCountText(judged.length, 'time')}: it never spoke its protocol`
        : `Last spoke ${PROTOCOL_NAMES[spoke.protocol]} on ${spoke.at.slice(0, 10)}, not since`,
  }
}
