import { FILTER_ROWS } from '../../domain/search/search-filters.ts'
import type { SearchQuery } from '../../domain/search/search-query.ts'
import { bitWords, type IndexPart } from '../index/index-shape.ts'
import { NO_TRUST, trustOf } from '../index/standing.ts'
import { countUpTo } from '../numbers/coded-column.ts'

/** The filters of a query, as Orama's `where` writes them. */
export type RowFilter = ReturnType<typeof toRowFilter>

export function toRowFilter(query: Partial<SearchQuery>) {
  const values = valuesAsked(query)
  const { max_price_usd: lte, min_trust: gte } = query
  return {
    ...(values.length > 0 && { values: { containsAll: values } }),
    ...(lte !== undefined && { min_usd: { lte } }),
    ...(gte !== undefined && { trust: { gte } }),
  }
}

/**
 * The rows that pass all filters as a bit set, or null when there is no filter.
 * @param places where the bit set of each filter value lies in `part.filterBits`
 */
export function filterRows(
  part: IndexPart,
  filter: RowFilter,
  places: ReadonlyMap<string, number>,
): Uint32Array | null {
  if (Object.keys(filter).length === 0) return null
  const { values, min_usd: price, trust } = filter
  const words = bitWords(part.rows)
  const passing = new Uint32Array(words).fill(0xffffffff)
  for (const value of values?.containsAll ?? []) {
    const place = places.get(value)
    if (place === undefined) return passing.fill(0)
    for (let i = 0; i < words; i += 1)
      passing[i] = (passing[i] ?? 0) & (part.filterBits[place * words + i] ?? 0)
  }
  if (price !== undefined) keepAffordable(part, passing, price.lte)
  if (trust !== undefined) keepTrusted(part, passing, trust.gte)
  return passing
}

const VALUE_FILTERS = FILTER_ROWS.flatMap(([name, filter]) => ('of' in filter ? [name] : []))

function valuesAsked(query: Partial<SearchQuery>): string[] {
  const values: string[] = []
  for (const name of VALUE_FILTERS) {
    const asked = query[name]
    if (asked === undefined || asked === false) continue
    if (Array.isArray(asked)) for (const value of asked) values.push(`${name}:${value}`)
    else values.push(`${name}:${asked}`)
  }
  return values
}

/** An unknown price comes after all others, so it drops out. */
function keepAffordable({ rows, minUsd }: IndexPart, passing: Uint32Array, most: number): void {
  const { codes } = minUsd
  const affordable = countUpTo(minUsd, most)
  for (let word = 0; word < passing.length; word += 1) {
    if (passing[word] === 0) continue
    let kept = 0
    const end = Math.min(rows, (word + 1) * 32)
    for (let row = word * 32; row < end; row += 1) {
      if ((codes[row] ?? 0) < affordable) kept |= 1 << (row & 31)
    }
    passing[word] = (passing[word] ?? 0) & kept
  }
}

/** Rows lie in the order of trust, so those with enough are the first ones. */
function keepTrusted({ rows, standings }: IndexPart, passing: Uint32Array, least: number): void {
  let low = 0
  let high = rows
  while (low < high) {
    const middle = (low + high) >> 1
    const score = trustOf(standings[middle] ?? NO_TRUST)
    if (score !== NO_TRUST && score >= least) low = middle + 1
    else high = middle
  }
  const whole = low >>> 5
  passing.fill(0, whole + 1)
  passing[whole] = (passing[whole] ?? 0) & ((1 << (low & 31)) - 1)
}

export function passes(bits: Uint32Array | null, row: number): boolean {
  return bits === null || (((bits[row >>> 5] ?? 0) >>> (row & 31)) & 1) === 1
}

/** How many rows pass. */
export function countRows(bits: Uint32Array, rows: number): number {
  let count = 0
  bits.forEach((word, at) => {
    const beyond = Math.max(0, (at + 1) * 32 - rows)
    count += countBits(beyond === 0 ? word : word & (0xffffffff >>> beyond))
  })
  return count
}

/** How many bits of a 32-bit number are set: added up in pairs, fours and eights at once. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
