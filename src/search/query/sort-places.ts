import { MAX_TRUST } from '../../domain/search/search-filters.ts'
import type { SearchSort } from '../../domain/wire/vocabulary.ts'
import type { CodedColumn } from '../index/coded-column.ts'
import type { IndexData } from '../index/index-shape.ts'
import { NO_TRUST, trustOf } from '../index/standing.ts'

/**
 * The positions of the first rows in the requested order; equal ones stay as they are.
 * @param rows by rank
 */
export function sortPlaces(
  index: IndexData,
  rows: Float64Array | Uint32Array,
  { sort, start, end }: { sort: SearchSort; start: number; end: number },
): number[] {
  const placeOf = placesFor(index, sort)
  const { length } = rows
  // The position in the order and the one among `rows` as one number, which sorts fastest.
  const places = new Float64Array(rows).map((row, at) => placeOf(row) * length + at).sort()
  return Array.from(places.subarray(start, end), (place) => place % length)
}

/** The place of a row in an order, from 0. Unknown values come last. */
export function placesFor(
  { minUsd, added, reportedCalls, standings }: IndexData,
  sort: SearchSort,
): (row: number) => number {
  switch (sort) {
    case 'price':
      return (row) => minUsd.codes[row] ?? 0
    case 'newest':
      return fromHighest(added)
    case 'calls':
      return fromHighest(reportedCalls)
    case 'trust':
      return (row) => {
        const trust = trustOf(standings[row] ?? NO_TRUST)
        return trust === NO_TRUST ? MAX_TRUST + 1 : MAX_TRUST - trust
      }
    case 'relevance':
      return () => 0
  }
}

function fromHighest({ codes, values }: CodedColumn): (row: number) => number {
  const known = values.length
  return (row) => {
    const code = codes[row] ?? 0
    return Number.isNaN(values[code]) ? known : known - 1 - code
  }
}
