import type { SearchQuery } from '../domain/search-query.ts'
import { bitWords, type IndexPart, NO_TRUST } from './index-part.ts'

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
  if (maxPrice !== undefined)
    keepRows(part.rows, passing, (row) => (part.minUsd[row] ?? 0) <= maxPrice)
  if (minTrust !== undefined) keepRows(part.rows, passing, (row) => hasTrust(part, row, minTrust))
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

function hasTrust({ trust }: IndexPart, row: number, atLeast: number): boolean {
  const score = trust[row] ?? NO_TRUST
  return score !== NO_TRUST && score >= atLeast
}

function keepRows(rows: number, passing: Uint32Array, keep: (row: number) => boolean): void {
  for (let row = 0; row < rows; row += 1) {
    if (keep(row)) continue
    passing[row >>> 5] = (passing[row >>> 5] ?? 0) & ~(1 << (row & 31))
  }
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

/** Adds bits in pairs, fours and eights at once. */
function countBits(word: number): number {
  const pairs = word - ((word >>> 1) & 0x55555555)
  const fours = (pairs & 0x33333333) + ((pairs >>> 2) & 0x33333333)
  return Math.imul((fours + (fours >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}
