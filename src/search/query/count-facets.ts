import { toFilterValue, toFilterWords } from '../../domain/search/filter-words.ts'
import { filterOf, type SearchFacet } from '../../domain/search/search-filters.ts'
import type { SearchQuery } from '../../domain/search/search-query.ts'
import type { Facets } from '../../domain/search/search-response.ts'
import { FACET_STEPS } from '../../domain/wire/vocabulary.ts'
import type { SearchIndex } from '../index/index-shape.ts'
import { allRows, bitsFor, countRows, filterRows, intersect, toRowFilter } from './filter-rows.ts'

/**
 * Counts the organic matches of a query by the requested facets. Values without matches are left
 * out; the most frequent come first, and steps of a number from the lowest.
 * @param matched rows that match the words, whatever the filters; null for all
 */
export function countFacets(
  index: SearchIndex,
  query: SearchQuery,
  matched: Uint32Array | null,
): Facets {
  const pass = (asked: Partial<SearchQuery>) => {
    const passing = filterRows(index, toRowFilter(asked)) ?? allRows(index)
    return matched === null ? passing : intersect(passing, matched)
  }
  const countFacet = (facet: SearchFacet) => {
    const { [filterOf(facet)]: _own, ...others } = query
    if (facet === 'max_price_usd' || facet === 'min_trust')
      return FACET_STEPS[facet].map((step) => ({
        id: String(step),
        count: countRows(pass({ ...others, [facet]: step }), index.organic),
      }))
    const base = pass(others)
    return [...index.filterPlaces]
      .filter(([value]) => value.startsWith(`${facet}:`))
      .map(([value, place]) => ({
        ...toNamed(facet, value.slice(facet.length + 1)),
        count: countRows(intersect(bitsFor(index, place).slice(), base), index.organic),
      }))
      .sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1))
  }
  return Object.fromEntries(
    (query.facets ?? []).map((facet) => [
      facet,
      countFacet(facet).filter(({ count }) => count > 0),
    ]),
  )
}

/** A value that a parameter may name, with its name for people. */
function toNamed(facet: SearchFacet, id: string): { id: string; name?: string } {
  const filter = filterOf(facet)
  return toFilterValue(filter, id) === id ? { id } : { id, name: toFilterWords(filter, id) }
}
