import type { CompiledListing } from '../../compiled.ts'
import type { Tables } from '../../domain/derived/tables.ts'
import { toCountText, toUsd } from '../../domain/operation/price-text.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { compareText } from './home-lists.ts'

interface Listed {
  view: Pick<ListingView, 'id' | 'name' | 'page' | 'first_party'> & {
    operations: readonly Pick<ListingView['operations'][number], 'task' | 'price'>[]
    trust: { evidence: ListingView['trust']['evidence']; settlements_30d?: number }
  }
  history: Pick<CompiledListing['history'], 'probes'>
}

/** A service that somebody would choose for a task, and why. */
export interface TaskChoice {
  label: 'Cheapest' | 'Fastest' | 'Most paid'
  name: string
  page: string
  value: string
}

export interface TaskChoices {
  id: string
  name: string
  /** Services with a price for it. */
  services: number
  /** The lowest price of one call, US dollars. */
  usd: number
  choices: TaskChoice[]
}

interface Offer {
  listing: Listed
  usd: number
}

/** Tasks that at least two outside listings offer at a price, the most offered first. */
export function toTaskChoices(tasks: Tables['tasks'], listings: readonly Listed[]): TaskChoices[] {
  const offers = toOffers(listings)
  return tasks
    .flatMap(({ id, name }) => {
      const own = [...(offers.get(id)?.values() ?? [])]
      const [first, second] = own.sort(
        (a, b) => a.usd - b.usd || compareText(a.listing.view.id, b.listing.view.id),
      )
      if (first === undefined || second === undefined) return []
      return [{ id, name, services: own.length, usd: first.usd, choices: toChoices(first, own) }]
    })
    .sort((a, b) => b.services - a.services)
}

/** By task and listing, each at its lowest price of one call. */
function toOffers(listings: readonly Listed[]): Map<string, Map<string, Offer>> {
  const offers = new Map<string, Map<string, Offer>>()
  for (const listing of listings)
    for (const { task, price } of listing.view.first_party ? [] : listing.view.operations) {
      if (task === undefined || price?.per !== 'call') continue
      const own = offers.get(task) ?? new Map<string, Offer>()
      offers.set(task, own)
      const known = own.get(listing.view.id)
      if (known === undefined || price.min_usd < known.usd)
        own.set(listing.view.id, { listing, usd: price.min_usd })
    }
  return offers
}

/** Lines without a measurement are omitted. */
function toChoices(cheapest: Offer, offers: readonly Offer[]): TaskChoice[] {
  const fastest = findBest(offers, ({ history }) => -(toLastMs(history) ?? Number.NaN))
  const paid = findBest(offers, ({ view }) => toPayments(view) || Number.NaN)
  const rows = [
    ['Cheapest', cheapest, toUsd(cheapest.usd)] as const,
    ...(fastest === null
      ? []
      : [['Fastest', fastest, `${toLastMs(fastest.listing.history)} ms`] as const]),
    ...(paid === null
      ? []
      : [['Most paid', paid, toCountText(toPayments(paid.listing.view), 'payment')] as const]),
  ]
  return rows.map(([label, { listing }, value]) => ({
    label,
    name: listing.view.name,
    page: listing.view.page,
    value,
  }))
}

/** The one with the highest number; of equals the cheapest. Null where none has one. */
function findBest(offers: readonly Offer[], numberOf: (listing: Listed) => number): Offer | null {
  let best: { offer: Offer; number: number } | null = null
  for (const offer of offers) {
    const number = numberOf(offer.listing)
    if (!Number.isNaN(number) && (best === null || number > best.number)) best = { offer, number }
  }
  return best?.offer ?? null
}

/** How fast it answered the last probe, if the service itself answered. */
function toLastMs({ probes }: Listed['history']): number | null {
  const last = probes.at(-1)
  return last?.outcome === 'spoke' ? (last.ms ?? null) : null
}

/** Verified payments of 30 days. */
function toPayments({ trust }: Listed['view']): number {
  return trust.evidence === 'verified_non_wash_payments' ? (trust.settlements_30d ?? 0) : 0
}
