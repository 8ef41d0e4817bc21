import { SEARCH_FIELDS, type SearchField } from '../../domain/search/search-rank.ts'
import type { IndexPart, SearchIndex } from '../index/index-shape.ts'
import { varintAt, varintBytes } from '../numbers/varint.ts'
import { bitsOf, passes } from './filter-rows.ts'
import type { PlanTerm } from './plan-query.ts'
import { openPlan } from './posting-cursor.ts'

/** The text score of a row, and what each term adds to it and the fields that hold it. */
export interface RowScore {
  total: number
  terms: { term: PlanTerm; fields: readonly SearchField[]; score: number }[]
}

/** The scores of a few rows, term by term. */
export function scoreRows(
  index: SearchIndex,
  part: IndexPart,
  terms: readonly PlanTerm[],
  rows: readonly number[],
): ReadonlyMap<number, RowScore> {
  const found = new Map<number, RowScore>(rows.map((row) => [row, { total: 0, terms: [] }]))
  if (rows.length === 0) return found
  const wanted = bitsOf(part, rows)
  for (const { term, bytes, weight, ...cursor } of openPlan(index, part, terms)) {
    let { at, row } = cursor
    for (let { left } = cursor; left > 0; left -= 1) {
      const code = codeAt(bytes, at)
      const scored = passes(wanted, row) ? found.get(row) : undefined
      if (scored !== undefined) {
        const score = weight * (part.palette[code] ?? 0)
        scored.total += score
        scored.terms.push({ term, fields: fieldsOf(part, code), score })
      }
      at += code > 0x7f ? 2 : 1
      const distance = varintAt(bytes, at)
      at += varintBytes(distance)
      row += distance
    }
  }
  return found
}

/** A palette number, see `Postings`. */
function codeAt(bytes: Uint8Array, at: number): number {
  const byte = bytes[at] ?? 0
  return byte > 0x7f ? (byte & 0x7f) | ((bytes[at + 1] ?? 0) << 7) : byte
}

function fieldsOf({ paletteFields }: IndexPart, code: number): SearchField[] {
  return SEARCH_FIELDS.filter((_, at) => (((paletteFields[code] ?? 0) >> at) & 1) === 1)
}
