import { MAX_TRUST } from '../../domain/search/search-filters.ts'
import type { SearchSort } from '../../domain/wire/vocabulary.ts'
import type { IndexPart } from '../index/index-shape.ts'
import { NO_TRUST, trustOf } from '../index/standing.ts'
import type { CodedColumn } from '../numbers/coded-column.ts'
import { createTopKeys } from '../numbers/top-keys.ts'
import { passes } from './filter-rows.ts'

export interface RankedRow {
  row: number
  relevance: number
}

/** The first rows of one part, and how many rows of it match in all. */
export interface RankedRows {
  total: number
  rows: readonly RankedRow[]
}

/** Rows to be ordered, each with a key: of two in one place, the larger key goes first. */
export interface Matches {
  rows: readonly number[]
  keys: readonly number[]
  toRow(key: number): RankedRow
}

interface SortRequest extends Matches {
  bits: Uint32Array | null
  sort: SearchSort
  most: number
}

/**
 * The first rows by price, trust or date. How many rows stand in each place is counted first: the
 * rows of the place where the page ends are then all that have to be compared by their keys.
 */
export function takeSorted(part: IndexPart, request: SortRequest): RankedRows {
  const { rows, keys, toRow, bits, sort, most } = request
  const { placeOf, places } = placesFor(part, sort)
  const counts = new Uint32Array(places)
  let total = 0
  for (const row of rows) {
    if (!passes(bits, row)) continue
    total += 1
    counts[placeOf(row)] = (counts[placeOf(row)] ?? 0) + 1
  }
  const { last, before } = findEnd(counts, most)
  const whole: { place: number; key: number }[] = []
  const ending = createTopKeys(Math.min(most - before, part.rows))
  rows.forEach((row, at) => {
    if (!passes(bits, row)) return
    const place = placeOf(row)
    const key = keys[at] ?? 0
    if (place < last) whole.push({ place, key })
    else if (place === last) ending.offer(key)
  })
  whole.sort((a, b) => a.place - b.place || b.key - a.key)
  return { total, rows: [...whole.map(({ key }) => key), ...ending.take()].map(toRow) }
}

/** The place where so many rows are reached, and how many stand before it. */
function findEnd(counts: Uint32Array, most: number): { last: number; before: number } {
  let before = 0
  for (let place = 0; place < counts.length; place += 1) {
    const count = counts[place] ?? 0
    if (before + count >= most) return { last: place, before }
    before += count
  }
  return { last: counts.length, before }
}

/** Where a row stands in an order, from 0; what is unknown stands last. */
export function placesFor(
  { minUsd, added, standings }: IndexPart,
  sort: SearchSort,
): { placeOf(row: number): number; places: number } {
  switch (sort) {
    case 'price':
      return { placeOf: (row) => minUsd.codes[row] ?? 0, places: minUsd.values.length }
    case 'newest':
      return { placeOf: newestFirst(added), places: added.values.length + 1 }
    case 'trust':
      return {
        placeOf: (row) => {
          const trust = trustOf(standings[row] ?? NO_TRUST)
          return trust === NO_TRUST ? MAX_TRUST + 1 : MAX_TRUST - trust
        },
        places: MAX_TRUST + 2,
      }
    case 'relevance':
      return { placeOf: () => 0, places: 1 }
  }
}

function newestFirst({ codes, values }: CodedColumn): (row: number) => number {
  return (row) => {
    const code = codes[row] ?? 0
    return Number.isNaN(values[code] ?? Number.NaN) ? values.length : values.length - 1 - code
  }
}
