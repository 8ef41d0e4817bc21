import { filterOf, type SearchFacet } from '../../domain/search/search-filters.ts'
import type { SearchQuery } from '../../domain/search/search-query.ts'
import { FACET_STEPS } from '../../domain/wire/vocabulary.ts'
import { bitWords, type IndexPart, type SearchIndex } from '../index/index-shape.ts'
import { countRows, filterRows, toRowFilter } from './filter-rows.ts'

export interface FacetCount {
  id: string
  count: number
}

export type FacetCounts = Partial<Record<SearchFacet, readonly FacetCount[]>>

/**
 * Counts the organic matches of a query by the facets asked for. Values that nothing matches are
 * left out; the most frequent come first, and steps of a number from the lowest.
 * @param rows what matches the words, whatever the filters; null for all
 */
export function countFacets(
  index: SearchIndex,
  query: SearchQuery,
  rows: Iterable<number> | null,
): FacetCounts {
  const { organic, filterPlaces } = index
  const matched = toBits(organic, rows)
  return Object.fromEntries(
    (query.facets ?? []).map((facet) => {
      const { [filterOf(facet)]: _own, ...others } = query
      const pass = (asked: Partial<SearchQuery>) => {
        const passing = filterRows(organic, toRowFilter(asked), filterPlaces)
        return passing?.map((word, at) => word & (matched[at] ?? 0)) ?? matched
      }
      if (facet !== 'max_price_usd' && facet !== 'min_trust')
        return [facet, countValues(index, facet, pass(others))]
      const counts = FACET_STEPS[facet].map((step) => ({
        id: String(step),
        count: countRows(pass({ ...others, [facet]: step }), organic.rows),
      }))
      return [facet, counts.filter(({ count }) => count > 0)]
    }),
  )
}

function toBits({ rows: all }: IndexPart, rows: Iterable<number> | null): Uint32Array {
  const bits = new Uint32Array(bitWords(all))
  if (rows === null) return bits.fill(0xffffffff)
  for (const row of rows) bits[row >>> 5] = (bits[row >>> 5] ?? 0) | (1 << (row & 31))
  return bits
}

function countValues(
  { organic, filterPlaces }: SearchIndex,
  facet: SearchFacet,
  base: Uint32Array,
): FacetCount[] {
  const words = bitWords(organic.rows)
  const counts = [...filterPlaces].flatMap(([value, place]) => {
    if (!value.startsWith(`${facet}:`)) return []
    const own = organic.filterBits.subarray(place * words, (place + 1) * words)
    const count = countRows(
      own.map((word, at) => word & (base[at] ?? 0)),
      organic.rows,
    )
    return count === 0 ? [] : [{ id: value.slice(facet.length + 1), count }]
  })
  return counts.sort((a, b) => b.count - a.count || (a.id < b.id ? -1 : 1))
}
