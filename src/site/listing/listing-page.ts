import type { ListingView } from '../../domain/views/listing-view.ts'
import type { CategoriesView, SourcesView } from '../../domain/views/reference-views.ts'
import { type ListingRow, toListingRow } from '../rows/listing-row.ts'
import { type SourceLine, toSourceLines } from './source-lines.ts'

/** Everything that a listing's page prints: what is not in here cannot change it. */
export interface ListingPage<Listing> {
  listing: Listing
  /** Listings like this one, best first. */
  similar: ListingRow[]
  /** Its own, in the directory's order. */
  categories: { id: string; name: string }[]
  sources: SourceLine[]
}

/** What of the directory a page may show beside its own listing. */
interface Directory<Listing> {
  site: { categories: CategoriesView; sources: SourcesView }
  byId: ReadonlyMap<string, Listing>
}

/** How many listings a page points to as like this one. */
const MAX_SIMILAR = 6

export function toListingPage<Listing extends { view: ListingView; similar: readonly string[] }>(
  listing: Listing,
  { site, byId }: Directory<Listing>,
): ListingPage<Listing> {
  const { view } = listing
  return {
    listing,
    similar: listing.similar
      .flatMap((id) => byId.get(id) ?? [])
      .slice(0, MAX_SIMILAR)
      .map((other) => toListingRow(other.view)),
    categories: site.categories.categories
      .filter(({ id }) => view.categories.includes(id))
      .map(({ id, name }) => ({ id, name })),
    sources: toSourceLines(view, site.sources.sources),
  }
}
