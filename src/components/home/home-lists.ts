import type { CompiledListing, HomeFacts } from '../../compiled.ts'
import { toDriftSentence } from '../../domain/probe/merge.ts'
import { mostReported } from '../../domain/trust/evidence.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { compareText } from '../../domain/wire/json.ts'
import { compareListingRows, toListingRow } from '../rows/listing-row.ts'

type Listed = Pick<CompiledListing, 'brief' | 'home'>

/** Chosen when a listing is compiled: the home page would read the records of all. */
export function toHomeFacts(
  { reported_use, known: { answers }, tools }: ListingView,
  { drift, probes }: CompiledListing['history'],
): HomeFacts {
  const counts = USES.map((what) => mostReported(what, reported_use) ?? 0)
  const first = counts.findIndex((value) => value > 0)
  return {
    used: first < 0 ? [0, 0] : [USES.length - first, counts[first] ?? 0],
    answered: answers?.known === true ? (answers.as_of ?? '') : null,
    drift: drift[0] ?? null,
    tools: probes.at(-1)?.outcome === 'spoke' ? tools.length : 0,
  }
}

const USES = ['calls', 'settlements', 'payers', 'downloads', 'stars'] as const

/** The lists of the home page: of outside listings only; our own kits have a separate row. */
export function toHomeLists(listings: readonly Listed[], length: number) {
  const outside = listings.filter(({ brief }) => !brief.first_party)
  return {
    /** Listings with a payment-verified score, highest first. */
    trusted: outside
      .filter(({ brief }) => brief.trust.score !== null)
      .map(({ brief }) => toListingRow(brief))
      .sort(compareListingRows)
      .slice(0, length),
    /** Those that others count most calls of; then by payments, downloads and stars. */
    known: outside
      .filter(({ home }) => home.used[0] > 0)
      .sort(
        ({ brief: a, home: { used: x } }, { brief: b, home: { used: y } }) =>
          y[0] - x[0] || y[1] - x[1] || compareText(a.id, b.id),
      )
      .slice(0, length)
      .map(({ brief }) => toListingRow(brief)),
    /** Those that answered last, to us or to another's test, with the day. */
    lately: outside
      .flatMap(({ brief, home: { answered: at } }) =>
        at === null ? [] : [{ row: toListingRow(brief), at }],
      )
      .sort((a, b) => compareText(b.at, a.at) || compareListingRows(a.row, b.row))
      .slice(0, length),
    changed: toChanged(outside).slice(0, length),
    answered: toAnswered(outside).slice(0, length),
    firstParty: listings
      .filter(({ brief }) => brief.first_party)
      .map(({ brief }) => toListingRow(brief)),
  }
}

/** Changes between two of our probes, the newest first; only the last of each listing. */
function toChanged(outside: readonly Listed[]) {
  return outside
    .flatMap(({ brief: { name, page }, home: { drift } }) =>
      drift === null ? [] : [{ name, page, at: drift.at, text: toDriftSentence(drift) }],
    )
    .sort((a, b) => compareText(b.at, a.at) || compareText(a.page, b.page))
}

/** Servers that listed their tools to our probe with how many they are, the most first. */
function toAnswered(outside: readonly Listed[]) {
  return outside
    .filter(({ home }) => home.tools > 0)
    .map(({ brief: { name, page }, home: { tools } }) => ({ name, page, listings: tools }))
    .sort((a, b) => b.listings - a.listings || compareText(a.page, b.page))
}
