import type { CompiledListing } from '../../compiled.ts'
import { toCountText, toUsd } from '../../domain/listing/pricing.ts'
import type { TaskOffer, TaskPage } from '../../domain/plans/task-offers.ts'
import { toDriftSentence } from '../../domain/probe/merge.ts'
import { compareText, present } from '../../domain/wire/json.ts'
import { toCallId } from '../../domain/wire/links.ts'
import type { Warning } from '../../domain/wire/vocabulary.ts'
import { shortenPayees } from '../evidence/evidence-words.ts'
import { compareListings } from '../rows/listing-row.ts'
import { toOfferWarning } from '../tasks/offer-texts.ts'

type Listed = Pick<CompiledListing, 'brief' | 'home' | 'added'>

/** The home page's lists. They have outside listings only; our own kits have a separate row. */
export function toHomeLists(listings: readonly Listed[], length: number, changesOfEach = 1) {
  const outside = listings.filter(({ brief }) => !brief.first_party)
  const ranked = outside.map(({ brief }) => brief).sort(compareListings)
  return {
    /** Listings with a payment-verified score, highest first. */
    trusted: ranked.filter(({ trust }) => trust.score !== null).slice(0, length),
    /** The first listings in the usual order, for a directory without any counts. */
    first: ranked.slice(0, length),
    /** Listings with the most payments counted by others, then by downloads and stars. */
    known: outside
      .filter(({ home }) => home.used[0] > 0)
      .sort(
        ({ brief: a, home: { used: x } }, { brief: b, home: { used: y } }) =>
          y[0] - x[0] || y[1] - x[1] || compareText(a.id, b.id),
      )
      .slice(0, length)
      .map(({ brief }) => brief),
    /** Listings that answered last, to us or to another's test, with the day. */
    lately: outside
      .flatMap(({ brief, home: { answered: at } }) => (at === null ? [] : [{ brief, at }]))
      .sort((a, b) => compareText(b.at, a.at) || compareListings(a.brief, b.brief))
      .slice(0, length)
      .map(({ brief: { name, page, summary }, at }) => ({ name, page, at, text: summary })),
    changed: toChanged(outside, changesOfEach).slice(0, length),
    added: outside
      .toSorted((a, b) => compareText(b.added, a.added) || compareListings(a.brief, b.brief))
      .slice(0, length)
      .map(({ brief: { name, page, summary }, added: at }) => ({ name, page, at, text: summary })),
    firstParty: listings.flatMap(({ brief }) => (brief.first_party ? brief : [])),
  }
}

/** Changes between two of our probes, newest first. @param ofEach the most changes to one listing */
function toChanged(outside: readonly Listed[], ofEach: number) {
  return outside
    .flatMap(({ brief: { name, page }, home: { drift } }) =>
      drift.slice(0, ofEach).map((change) => {
        const text = shortenPayees(toDriftSentence(change))
        return { name, page: `${page}#changed`, at: change.at, text }
      }),
    )
    .sort((a, b) => compareText(b.at, a.at) || compareText(a.page, b.page))
}

/**
 * Tasks that at least two listings do at a known price. Tasks that somebody sells come first; within
 * each of the two groups, those with the most sellers.
 */
export function toTaskChoices(
  tasks: readonly TaskPage[],
  warningOf: (id: string) => Warning | undefined,
) {
  return tasks
    .flatMap(({ id, name, page, sellers, offers }) => {
      const all = offers.filter(({ usd, per }) => usd === 0 || (usd !== null && !per))
      // Listings with a warning are recommended only if fewer than two without one do the task at a known price.
      const warn = (offer: TaskOffer) => toOfferWarning(offer, warningOf(offer.listing.id))
      const sound = all.filter((offer) => warn(offer) === undefined)
      const priced = sound.length < 2 ? all : sound
      const [first] = priced
      if (first?.usd == null || priced.length < 2) return []
      const sold = priced.find(({ usd }) => usd !== 0)
      const choices = toChoices(first, first.usd, sold, priced).map(({ offer, ...choice }) => ({
        ...choice,
        name: offer.listing.name,
        page: `${offer.listing.page}#${toCallId(offer.operation)}`,
        ...present({ warning: warn(offer) }),
      }))
      return [{ id, name, page, sellers, usd: first.usd, paid_usd: sold?.usd ?? null, choices }]
    })
    .sort(
      (a, b) => Number(a.paid_usd === null) - Number(b.paid_usd === null) || b.sellers - a.sellers,
    )
}

/** The lines on a task's card: its first offer, the first paid one, the fastest, and the most paid. */
function toChoices(
  first: TaskOffer,
  usd: number,
  sold: TaskOffer | undefined,
  offers: readonly TaskOffer[],
) {
  const fastest = findBest(offers, ({ answered }) => -(answered?.ms ?? Number.NaN))
  const paid = findBest(offers, ({ paid: counted }) => counted?.settlements_30d || Number.NaN)
  const rows = [
    usd === 0 ? (['Free', first, ''] as const) : (['Cheapest', first, toUsd(usd)] as const),
    ...(usd === 0 && sold?.usd != null ? [['Paid from', sold, toUsd(sold.usd)] as const] : []),
    ...(fastest === null ? [] : [['Fastest', fastest, `${fastest.answered?.ms} ms`] as const]),
    ...(paid === null
      ? []
      : [['Most paid', paid, toCountText(paid.paid?.settlements_30d ?? 0, 'payment')] as const]),
  ]
  return rows.map(([label, offer, value]) => ({ label, offer, value }))
}

/** The offer with the highest number, the cheapest if several have it. Null if none has a number. */
function findBest(
  offers: readonly TaskOffer[],
  numberOf: (offer: TaskOffer) => number,
): TaskOffer | null {
  const counted = offers.filter((offer) => !Number.isNaN(numberOf(offer)))
  return counted.toSorted((a, b) => numberOf(b) - numberOf(a))[0] ?? null
}

const MOST = 4

/** A few tasks that listings do, far apart in the task table; empty if no listing does any task. */
export function toTaskLinks(tasks: readonly TaskPage[]): TaskPage[] {
  const done = tasks.filter(({ sellers }) => sellers > 0)
  const step = Math.ceil(done.length / MOST)
  return done.filter((_, at) => at % step === 0)
}
