import {
  FILTER_ROWS,
  filterOf,
  type SearchFacet,
  toFilterValue,
  toFilterWords,
} from '../../domain/search/search-filters.ts'
import type { SearchQuery } from '../../domain/search/search-parameters.ts'
import type { Facets } from '../../domain/search/search-response.ts'
import { FACET_STEPS } from '../../domain/wire/vocabulary.ts'
import {
  bitWords,
  type CodedColumn,
  findUnsold,
  NO_TRUST,
  toDay,
  trustOf,
  valueAt,
} from '../index/columns.ts'
import type { IndexData, RowRange, SearchIndex } from '../index/index-file.ts'
import type { FilterPhrase } from '../words/word-sets.ts'

/** A query's filters in the form of Orama's `where`. */
export type RowFilter = ReturnType<typeof toRowFilter>

export function toRowFilter(query: Partial<SearchQuery>) {
  const values = valuesRequested(query)
  const { max_price_usd: lte, min_trust: gte, answered_since, paid_since } = query
  return {
    ...(values.length > 0 && { values: { containsAll: values } }),
    ...(lte !== undefined && { min_usd: { lte } }),
    ...(gte !== undefined && { trust: { gte } }),
    ...(answered_since !== undefined && { answered: { gte: toDay(answered_since) } }),
    ...(paid_since !== undefined && { paid: { gte: toDay(paid_since) } }),
  }
}

/** The filter that a phrase in a question sounds like. */
export function toParameters({ parameter, value }: FilterPhrase): Partial<SearchQuery> {
  if (parameter === 'max_price_usd') return { max_price_usd: Number(value) }
  return parameter === 'paid_only' ? { paid_only: true } : { [parameter]: value }
}

/** The rows that pass all filters as a bit set, including first-party rows; null without a filter. */
export function filterRows(index: SearchIndex, filter: RowFilter): Uint32Array | null {
  if (Object.keys(filter).length === 0) return null
  const { values, min_usd: price, trust, answered, paid } = filter
  const { filterPlaces: places } = index
  const passing = allRows(index)
  for (const value of values?.containsAll ?? []) intersect(passing, bitsFor(index, value))
  if (price !== undefined) keepAffordable(index, passing, price.lte)
  if (trust !== undefined) keepTrusted(index, passing, trust.gte)
  if (answered !== undefined) keepSince(index.answered, passing, answered.gte)
  if (paid !== undefined) keepSince(index.lastPaid, passing, paid.gte)
  const placeOf = (name: string) =>
    places.get(values?.containsAll.find((value) => value.startsWith(name)) ?? '')
  const offer = { rail: placeOf('rail:'), network: placeOf('network:'), mostUsd: price?.lte }
  for (const row of findUnsold(index.offers, offer)) setBit(passing, row, false)
  return passing
}

/** The rows that have a filter value such as `kind:kit`; none for an unknown value. */
export function bitsFor(
  { trustMarks, filterBits, filterPlaces }: SearchIndex,
  value: string,
): Uint32Array {
  const words = bitWords(trustMarks.length)
  const place = filterPlaces.get(value)
  return place === undefined
    ? new Uint32Array(words)
    : filterBits.subarray(place * words, (place + 1) * words)
}

/** Keeps only the rows in one bit set that are also in another. */
export function intersect(bits: Uint32Array, others: Uint32Array): Uint32Array {
  for (let at = 0; at < bits.length; at += 1) bits[at] = (bits[at] ?? 0) & (others[at] ?? 0)
  return bits
}

const VALUE_FILTERS = FILTER_ROWS.flatMap(([name, filter]) => ('of' in filter ? [name] : []))

function valuesRequested(query: Partial<SearchQuery>): string[] {
  const values: string[] = []
  for (const name of VALUE_FILTERS) {
    const requested = query[name]
    if (requested === undefined || requested === false) continue
    if (Array.isArray(requested)) for (const value of requested) values.push(`${name}:${value}`)
    else values.push(`${name}:${requested}`)
  }
  return values
}

/** An unknown price sorts after all others, so a row without a price drops out. */
function keepAffordable({ minUsd }: IndexData, passing: Uint32Array, most: number): void {
  const { codes } = minUsd
  const affordable = countUpTo(minUsd, most)
  for (let row = 0; row < codes.length; row += 1)
    if ((codes[row] ?? 0) >= affordable) setBit(passing, row, false)
}

function keepTrusted({ trustMarks }: IndexData, passing: Uint32Array, least: number): void {
  for (let row = 0; row < trustMarks.length; row += 1) {
    const score = trustOf(trustMarks[row] ?? NO_TRUST)
    if (score === NO_TRUST || score < least) setBit(passing, row, false)
  }
}

function keepSince(days: CodedColumn, passing: Uint32Array, least: number): void {
  for (let row = 0; row < days.codes.length; row += 1)
    if (!(valueAt(days, row) >= least)) setBit(passing, row, false)
}

export function bitsOf({ trustMarks }: IndexData, rows: Iterable<number>): Uint32Array {
  const bits = new Uint32Array(bitWords(trustMarks.length))
  for (const row of rows) setBit(bits, row, true)
  return bits
}

export function allRows({ trustMarks }: IndexData): Uint32Array {
  return new Uint32Array(bitWords(trustMarks.length)).fill(0xffffffff)
}

export function setBit(bits: Uint32Array, row: number, isSet: boolean): void {
  const word = bits[row >>> 5] ?? 0
  bits[row >>> 5] = isSet ? word | (1 << (row & 31)) : word & ~(1 << (row & 31))
}

export function passes(bits: Uint32Array | null, row: number): boolean {
  return bits === null || (((bits[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1
}

/** How many of a range's rows are in a bit set. */
export function countRows(bits: Uint32Array, { start, end }: RowRange): number {
  let count = 0
  for (let at = start >>> 5; at <= (end - 1) >>> 5 && start < end; at += 1) {
    let word = bits[at] ?? 0
    if (at === start >>> 5) word &= 0xffffffff << (start & 31)
    if (at === (end - 1) >>> 5) word &= 0xffffffff >>> (31 - ((end - 1) & 31))
    count += countBits(word)
  }
  return count
}

/** How many bits are set in a 32-bit number: pairs, fours and eights are added up in parallel. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

/**
 * Counts a query's organic matches by the requested facets. Values without matches are left out;
 * the most frequent come first, but numeric steps start from the lowest.
 * @param matched rows that match the words, whatever the filters; null for all
 */
export function countFacets(
  index: SearchIndex,
  query: SearchQuery,
  matched: Uint32Array | null,
): Facets {
  const pass = (requested: Partial<SearchQuery>) => {
    const passing = filterRows(index, toRowFilter(requested)) ?? allRows(index)
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
    return index.filterValues
      .filter((value) => value.startsWith(`${facet}:`))
      .map((value) => ({
        ...toNamed(facet, value.slice(facet.length + 1)),
        count: countRows(intersect(bitsFor(index, value).slice(), base), index.organic),
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

/** A value for a facet's filter, with its name for people, if it has one. */
function toNamed(facet: SearchFacet, id: string): { id: string; name?: string } {
  const filter = filterOf(facet)
  return toFilterValue(filter, id) === id ? { id } : { id, name: toFilterWords(filter, id) }
}

/** How many distinct values are at most `most`: a row qualifies if its code is lower than this number. */
function countUpTo({ values }: CodedColumn, most: number): number {
  let count = 0
  while (count < values.length && (values[count] ?? Number.NaN) <= most) count += 1
  return count
}
