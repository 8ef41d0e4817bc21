import type { SearchChoices } from '../../domain/derived/release-file.ts'
import type { CategoriesView, SourcesView } from '../../domain/views/reference-views.ts'
import type { StatsView } from '../../domain/views/stats-view.ts'

/** The filter values of the search page: every category, and the sources that have listings. */
export function toSearchChoices(
  { listings }: StatsView,
  { categories }: CategoriesView,
  { sources }: SourcesView,
): SearchChoices {
  const toChoice = ({ id, name, listings }: SearchChoices['sources'][number]) => ({
    id,
    name,
    listings,
  })
  return {
    kinds: listings.by_kind,
    rails: listings.by_rail,
    categories: categories.map(toChoice),
    sources: sources.filter(({ listings }) => listings > 0).map(toChoice),
  }
}
