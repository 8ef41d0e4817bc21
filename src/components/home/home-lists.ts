import type { ListingHistory } from '../../compiled.ts'
import { toDriftSentence } from '../../domain/probe/drift.ts'
import type { ListingBrief } from '../../domain/views/listing-brief.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { compareText } from '../../domain/wire/json.ts'
import { compareListingRows, toListingRow } from '../rows/listing-row.ts'
import { digestOf } from '../rows/tile.ts'

interface Added {
  brief: ListingBrief
  view: Pick<ListingView, 'tools'>
  added: string
  history?: Pick<ListingHistory, 'probes' | 'drift'>
}

/**
 * The lists of the home page; feeds only have the newest: outside listings only; our own kits have
 * a separate row.
 */
export function toHomeLists(listings: readonly Added[], length: number) {
  const outside = listings.filter(({ brief }) => !brief.first_party)
  return {
    /** Listings with a payment-verified score, highest first. */
    get trusted() {
      return outside
        .filter(({ brief }) => brief.trust.score !== null)
        .map(({ brief }) => toListingRow(brief))
        .sort(compareListingRows)
        .slice(0, length)
    },
    /** Newest first; of one day in a shuffled but fixed order, so that no name or kind comes first. */
    newest: outside
      .map(({ brief, added }) => ({ brief, added, shuffled: digestOf(brief.id) }))
      .sort((a, b) => compareText(b.added, a.added) || a.shuffled - b.shuffled)
      .slice(0, length)
      .map(({ brief, added }) => ({ row: toListingRow(brief), added })),
    /** Changes between two of our probes, the newest first; only the last of each listing. */
    get changed() {
      return outside
        .flatMap(({ brief: { name, page }, history }) =>
          (history?.drift ?? []).slice(0, 1).map((drift) => ({
            ...{ name, page, at: drift.at },
            text: toDriftSentence(drift),
          })),
        )
        .sort((a, b) => compareText(b.at, a.at) || compareText(a.page, b.page))
        .slice(0, length)
    },
    /** Servers that listed their tools to our probe, the most tools first. */
    get answered() {
      return outside
        .filter(({ history }) => history?.probes.at(-1)?.outcome === 'spoke')
        .map(({ brief, view }) => ({
          name: brief.name,
          page: brief.page,
          tools: view.tools.length,
        }))
        .filter(({ tools }) => tools > 0)
        .sort((a, b) => b.tools - a.tools || compareText(a.page, b.page))
        .slice(0, length)
    },
    firstParty: listings
      .filter(({ brief }) => brief.first_party)
      .map(({ brief }) => toListingRow(brief)),
  }
}
