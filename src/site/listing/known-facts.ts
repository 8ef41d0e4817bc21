import { toCountText } from '../../domain/operation/price-text.ts'
import type { PackageRun, Probe } from '../../domain/trust/evidence.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { html, type Markup } from '../frame/html.ts'
import { PROTOCOL_NAMES } from '../rows/decision-facts.ts'
import { toRunWords } from '../rows/package-run-words.ts'

/** A line of the ledger of what is known of a listing, and what is not yet. */
export interface KnownFact {
  isKnown: boolean
  text: string
}

export function known(isKnown: boolean, yes: string, no: string): KnownFact {
  return { isKnown, text: isKnown ? yes : no }
}

/** Facts as a list, a filled dot before what is known. */
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
}

/** For listings without a score: a page that is complete without one. */
export function toKnownFacts(view: ListingView, { probes, calls }: Seen): KnownFact[] {
  return [
    toHeard(probes, view.package_run),
    known(
      calls !== null,
      `${toCountText(calls?.total ?? 0, (calls?.title ?? '').toLowerCase().replace(/s$/, ''))} described`,
      'Operations, tools or skills: not described yet',
    ),
    known(
      view.pricing.model === 'per_call' || view.cost === 'free' || view.cost === 'freemium',
      view.pricing.model === 'per_call' ? 'Price of a call published' : COST_TEXTS[view.cost],
      COST_TEXTS[view.cost],
    ),
    known(
      view.auth.type !== 'unknown',
      'What a caller must bring is declared',
      'Access: not declared',
    ),
    known(
      view.trust.evidence !== 'no_payment_data',
      'Payments measured',
      'Payments: none measured, and that is not a bad sign',
    ),
    known(view.status === 'claimed', 'Owner proved the domain', 'Owner: nobody has claimed it'),
  ]
}

/**
 * Whether it was heard at the last probe that says something about it.
 *
 * @param probes oldest first
 */
export function toHeard(probes: Seen['probes'], run?: PackageRun): KnownFact {
  const judged = probes.filter(({ outcome }) => outcome !== 'unknown' && outcome !== 'unprobeable')
  const last = judged.at(-1)
  if (last === undefined && run !== undefined)
    return {
      isKnown: run.outcome === 'runs_as_declared',
      text: `Its package: ${toRunWords(run).result.toLowerCase()}`,
    }
  if (last === undefined) return { isKnown: false, text: 'Probe: no result yet' }
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

const COST_TEXTS = {
  free: 'Free: nothing is paid',
  freemium: 'Free to start, more costs money',
  paid: 'Price: paid, and not published',
  unknown: 'Price: not published, ask the seller',
} as const
