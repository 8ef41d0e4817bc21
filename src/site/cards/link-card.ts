import { type DirectoryPart, type Switches, toMissingParts } from '../../domain/derived/switches.ts'
import type { SiteNames } from '../../domain/derived/tables.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { categoryCardPath, kindCardPath } from '../../domain/wire/links.ts'
import { KIND_LABELS, type Kind } from '../../domain/wire/vocabulary.ts'
import { type DecisionFact, NO_NETWORK, toDecisionFacts } from '../rows/decision-facts.ts'
import { KIND_ORDER, KIND_TEXTS, toKindText } from '../rows/kind-texts.ts'
import { toMonogram } from '../rows/tile.ts'

/** The preview for links to a page: a sign with a name and three facts. */
export interface LinkCard {
  /** On the small sign above. */
  tab: string
  /** The arm beside the name; null draws our own mark. */
  arm: { kind: Kind; letters: string } | null
  title: string
  /** Written instead of a title in a script that the face has no letters for. */
  titleElse: string
  words: string
  facts: { label: string; value: string; note: string }[]
  foot: string
  /** Whose directory it is. */
  brand: string
}

const WANTED = ['Price', 'Price from', 'Pays with', 'Access', 'Trust']

/** A listing's card: the deciding facts in the words of its page, or else where it runs. */
export function toListingCard(
  view: ListingView,
  brand: string,
  switches: Partial<Switches>,
): LinkCard {
  const known = toDecisionFacts(view, [], switches)
  const facts = known.filter(({ label }) => WANTED.includes(label))
  const paid = facts.some(({ label }) => label === 'Pays with')
  const decisive = facts.filter(({ label }) => !(paid && label === 'Access'))
  const shown = decisive.length > 0 ? decisive : known.filter(({ label }) => label === 'Runs')
  return {
    tab: KIND_LABELS[view.kind],
    arm: { kind: view.kind, letters: toMonogram(view.name) },
    title: view.name,
    titleElse: view.id,
    words: view.summary,
    facts: shown.map((fact) => toCardFact(fact, view)),
    foot: view.id,
    brand,
  }
}

/** Payment with its chains; other notes only where they change how a number is read. */
function toCardFact(
  { label, value, note }: DecisionFact,
  { pricing }: Pick<ListingView, 'pricing'>,
): LinkCard['facts'][number] {
  if (label === 'Pays with' && note !== NO_NETWORK) {
    const count = pricing.model === 'per_call' ? pricing.networks.length : 0
    return { label: `${value} on`, value: count > 2 ? `${count} networks` : note, note: '' }
  }
  const isSample = label === 'Trust' && note.includes('buyers')
  return { label, value, note: isSample ? note.replace('independent ', '') : '' }
}

/** @example toListingCardText(view) → 'Brightwell Search: HTTP API. Price from $0.004. Pays with x402. Trust 72 of 100.' */
export function toListingCardText(view: ListingView, switches: Partial<Switches>): string {
  const { tab, title, facts } = toListingCard(view, '', switches)
  const said = facts.map(({ label, value }) => `${label} ${value}.`).join(' ')
  return `${title}: ${tab}. ${said}`
}

/** Text for every list: it does not change with the content, so neither do the drawings. */
const STANDING: { part: DirectoryPart; fact: LinkCard['facts'][number] }[] = [
  { part: 'payments', fact: { label: 'Pays with', value: 'x402, MPP', note: '' } },
  { part: 'trust', fact: { label: 'Trust from', value: 'payments', note: '' } },
  { part: 'business_model', fact: { label: 'Placements sold', value: 'none', note: '' } },
]

/** The cards that a build draws: of every page without one of its own, of kinds and of categories. */
export function toPageCards(
  categories: readonly { id: string; name: string; description: string }[],
  { name, strapline }: SiteNames,
  switches: Partial<Switches>,
): { path: string; card: LinkCard }[] {
  const missing = toMissingParts(switches)
  const facts = STANDING.flatMap(({ part, fact }) => (missing.includes(part) ? [] : [fact]))
  const toCard = (title: string, words: string, arm: LinkCard['arm']): LinkCard => ({
    tab: 'Directory',
    arm,
    title,
    titleElse: name,
    words,
    facts,
    foot: 'services for agents',
    brand: name,
  })
  return [
    { path: '/og.png', card: toCard(name, strapline, null) },
    ...KIND_ORDER.map((kind) => {
      const { plural } = KIND_TEXTS[kind]
      const arm = { kind, letters: toMonogram(plural) }
      return { path: kindCardPath(kind), card: toCard(plural, toKindText(kind, switches), arm) }
    }),
    ...categories.map((category) => ({
      path: categoryCardPath(category.id),
      card: toCard(category.name, category.description, null),
    })),
  ]
}
