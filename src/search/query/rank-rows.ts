import { RELEVANCE_STEPS } from '../../domain/search/search-rank.ts'
import type { SearchSort } from '../../domain/wire/vocabulary.ts'
import { firstPlace } from '../index/first-place.ts'
import type { IndexData, RowRange, SearchIndex } from '../index/index-shape.ts'
import { readPostings } from '../index/postings.ts'
import { multiplierOf, NO_TRUST } from '../index/standing.ts'
import { exactRows } from './exact-rows.ts'
import { keepWanted } from './excluded-names.ts'
import { bitsOf, passes, setBit } from './filter-rows.ts'
import type { QueryPlan } from './plan-query.ts'
import { scoreRows } from './score-rows.ts'
import { sortPlaces } from './sort-places.ts'

/** A first page and a bit more: so few are kept in order fastest. */
const MAX_SORTED = 64

export interface RankedRow {
  row: number
  relevance: number
}

/** The first rows of a range, and how many rows of it match in all. */
export interface RankedRows {
  total: number
  rows: readonly RankedRow[]
}

export interface RankRequest {
  text: string
  plan: QueryPlan
  /** Rows that pass the filters; null for all. */
  bits: Uint32Array | null
  sort: SearchSort
  /** How many rows are wanted. */
  most: number
}

/** Scores a range's rows for a plan and takes the first ones: of each kind of exact rows, then of all others. */
export function rankRows(index: SearchIndex, range: RowRange, request: RankRequest): RankedRows {
  const { text, plan, sort, most } = request
  const bits = keepWanted(index, range.name, { excluded: plan.excluded, bits: request.bits })
  const forEachRow: ForEachRow = (tell) => scoreRows(index, range.name, plan.terms, tell)
  if (sort !== 'relevance') return rankSorted(index, forEachRow, { ...request, bits })
  const exact = exactRows(index, range, { text, bits })
  const { span, toKey, toRow } = createKeys(index)
  // An exact row may hold no term, as an id or a host is not text.
  const known = new Map(exact.flatMap(({ rows }) => rows.map((row) => [row, toKey(row, 0)])))
  const best = createTopKeys(Math.min(most, range.end - range.start))
  let total = known.size
  /** A row with a lower score, before multiplication, cannot get on the page any more. */
  let minScore = Number.NEGATIVE_INFINITY
  forEachRow((row, score) => {
    if (!passes(bits, row)) return
    if (known.size > 0 && known.has(row)) {
      known.set(row, toKey(row, score))
      return
    }
    total += 1
    if (score < minScore) return
    const threshold = best.offer(toKey(row, score))
    // With a step of slack for the rounding.
    minScore = (threshold / span - 2) / RELEVANCE_STEPS / index.highestMultiplier
  })
  const first = exact.flatMap(({ rows }) =>
    rows.map((row) => known.get(row) ?? 0).sort((a, b) => b - a),
  )
  return { total, rows: [...first, ...best.take()].slice(0, most).map(toRow) }
}

/** Reports every row that holds a term, with its score. */
type ForEachRow = (tell: (row: number, score: number) => void) => void

/** Every organic row that holds a term, as a bit set. */
export function matchBits(index: SearchIndex, { terms, excluded }: QueryPlan): Uint32Array {
  const bits = bitsOf(index, [])
  for (const { number } of terms)
    for (const row of readPostings(index.terms, number).rows) setBit(bits, row, true)
  return keepWanted(index, 'organic', { excluded, bits }) ?? bits
}

/** The relevance of a score, in steps: those are compared and printed. */
function stepsOf({ standings }: IndexData, row: number, score: number): number {
  return Math.round(score * multiplierOf(standings[row] ?? NO_TRUST) * RELEVANCE_STEPS)
}

/**
 * A row's rank as one number, so that a typed array can hold and sort it: the relevance in steps,
 * then the row number backwards, since a lower row wins a tie. Exact below 2^53, that is for scores
 * to 8,000 with a million rows; the best match of 32 words scores some hundreds.
 */
function createKeys(index: IndexData) {
  const span = 2 ** Math.ceil(Math.log2(Math.max(index.standings.length, 2)))
  const rowOf = (key: number) => span - 1 - (key % span)
  return {
    span,
    toKey: (row: number, score: number) => stepsOf(index, row, score) * span + (span - 1 - row),
    rowOf,
    toRow: (key: number): RankedRow => ({
      row: rowOf(key),
      relevance: Math.floor(key / span) / RELEVANCE_STEPS,
    }),
  }
}

/** First the rows that are at least half as relevant as the best, then the others; ties by rank. */
function rankSorted(
  index: IndexData,
  forEachRow: ForEachRow,
  { bits, sort, most }: RankRequest,
): RankedRows {
  const { toKey, rowOf, toRow } = createKeys(index)
  const keys: number[] = []
  forEachRow((row, score) => {
    if (passes(bits, row)) keys.push(toKey(row, score))
  })
  const ranked = new Float64Array(keys).sort().reverse()
  const half = toRow(ranked[0] ?? 0).relevance / 2
  const near = firstPlace(0, ranked.length, (place) => toRow(ranked[place] ?? 0).relevance < half)
  const sorted = (start: number, end: number, wanted: number) => {
    const rows = ranked.subarray(start, end)
    const places = sortPlaces(index, rows.map(rowOf), { sort, start: 0, end: wanted })
    return places.map((place) => toRow(rows[place] ?? 0))
  }
  const first = sorted(0, near, most)
  const others = first.length < most ? sorted(near, ranked.length, most - first.length) : []
  return { total: keys.length, rows: [...first, ...others] }
}

/**
 * Keeps the `size` largest of any number of keys. `offer` returns what the next one must exceed to
 * be kept, `take` the largest in descending order.
 */
export function createTopKeys(size: number) {
  return size <= MAX_SORTED ? createSortedKeys(size) : createAllKeys(size)
}

function createSortedKeys(size: number) {
  const keys = new Float64Array(size)
  let length = 0
  return {
    offer(key: number): number {
      if (length < size) length += 1
      else if (key <= (keys[size - 1] ?? Number.POSITIVE_INFINITY)) return keys[size - 1] ?? key
      let at = length - 1
      for (; at > 0 && (keys[at - 1] ?? 0) < key; at -= 1) keys[at] = keys[at - 1] ?? 0
      keys[at] = key
      return length === size ? (keys[size - 1] ?? 0) : Number.NEGATIVE_INFINITY
    },
    take: () => keys.subarray(0, length),
  }
}

/** Deep pages are rare: everything is kept until one is taken. */
function createAllKeys(size: number) {
  const keys: number[] = []
  return {
    offer(key: number): number {
      keys.push(key)
      return Number.NEGATIVE_INFINITY
    },
    take: () => Float64Array.from(keys).sort().reverse().subarray(0, size),
  }
}
