import type { SearchQuery } from '../domain/search/search-query.ts'
import { countUpTo } from './coded-column.ts'
import { countBits } from './count-bits.ts'
import { bitWords, type IndexPart } from './index-part.ts'
import { NO_TRUST, trustOf } from './standing.ts'

/**
 * The rows that pass all filters of a query as a bit set, or null when there is no filter.
 * @param places where the bit set of each filter value lies in `part.filterBits`
 */
export function filterRows(
  part: IndexPart,
  query: SearchQuery,
  places: ReadonlyMap<string, number>,
): Uint32Array | null {
  const values = valuesAsked(query)
  const { max_price_usd: maxPrice, min_trust: minTrust } = query
  if (values.length === 0 && maxPrice === undefined && minTrust === undefined) return null
  const words = bitWords(part.rows)
  const passing = new Uint32Array(words).fill(0xffffffff)
  for (const value of values) {
    const place = places.get(value)
    if (place === undefined) return passing.fill(0)
    for (let i = 0; i < words; i += 1)
      passing[i] = (passing[i] ?? 0) & (part.filterBits[place * words + i] ?? 0)
  }
  if (maxPrice !== undefined) keepAffordable(part, passing, maxPrice)
  if (minTrust !== undefined) keepTrusted(part, passing, minTrust)
  return passing
}

function valuesAsked(query: SearchQuery): string[] {
  const values = (query.has ?? []).map((file) => `has:${file}`)
  if (query.paid_only) values.push('paid')
  if (query.kind !== undefined) values.push(`kind:${query.kind}`)
  if (query.rail !== undefined) values.push(`rail:${query.rail}`)
  if (query.category !== undefined) values.push(`category:${query.category}`)
  if (query.source !== undefined) values.push(`source:${query.source}`)
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
