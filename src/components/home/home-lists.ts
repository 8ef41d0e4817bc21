import type { CompiledListing } from '../../compiled.ts'
import { toDriftSentence } from '../../domain/probe/merge.ts'
import { mostReported } from '../../domain/trust/evidence.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { compareText } from '../../domain/wire/json.ts'
import { compareListingRows, toListingRow } from '../rows/listing-row.ts'

type Listed = Pick<CompiledListing, 'brief' | 'view' | 'history'>

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
      .map(({ brief, view }) => ({ brief, used: toUse(view) }))
      .filter(({ used }) => used[0] > 0)
      .sort(
        (a, b) =>
          b.used[0] - a.used[0] || b.used[1] - a.used[1] || compareText(a.brief.id, b.brief.id),
      )
      .slice(0, length)
      .map(({ brief }) => toListingRow(brief)),
    /** Those that answered last, to us or to another's test, with the day. */
    lately: outside
      .flatMap(({ brief, view: { known } }) =>
        known.answers?.known === true
          ? [{ row: toListingRow(brief), at: known.answers.as_of ?? '' }]
          : [],
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
    .flatMap(({ brief: { name, page }, history }) =>
      history.drift
        .slice(0, 1)
        .map((drift) => ({ name, page, at: drift.at, text: toDriftSentence(drift) })),
    )
    .sort((a, b) => compareText(b.at, a.at) || compareText(a.page, b.page))
}

/** Servers that listed their tools to our probe with how many they are, the most first. */
function toAnswered(outside: readonly Listed[]) {
  return outside
    .filter(({ view, history }) => {
      return view.tools.length > 0 && history.probes.at(-1)?.outcome === 'spoke'
    })
    .map(({ brief: { name, page }, view }) => ({ name, page, listings: view.tools.length }))
    .sort((a, b) => b.listings - a.listings || compareText(a.page, b.page))
}

/** The place of the first figure that somebody counts, and the figure. */
function toUse({ reported_use }: Pick<ListingView, 'reported_use'>): [rank: number, value: number] {
  const counts = USES.map((what) => mostReported(what, reported_use) ?? 0)
  const first = counts.findIndex((value) => value > 0)
  return first < 0 ? [0, 0] : [USES.length - first, counts[first] ?? 0]
}

const USES = ['calls', 'settlements', 'payers', 'downloads', 'stars'] as const
