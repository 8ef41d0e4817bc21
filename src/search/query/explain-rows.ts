import {
  LIVE_TESTED_FACTOR,
  SEARCH_FIELDS,
  type SearchField,
  trustFactor,
} from '../../domain/search/search-rank.ts'
import type { ExactKind } from '../index/exact-table.ts'
import type { IndexPart, SearchIndex } from '../index/index-shape.ts'
import { isLiveTested, NO_TRUST, trustOf } from '../index/standing.ts'
import { varintAt, varintBytes } from '../numbers/varint.ts'
import { exactRows, kindOf } from './exact-rows.ts'
import { bitsOf, passes } from './filter-rows.ts'
import type { PlanTerm, QueryPlan } from './plan-query.ts'
import { openPlan } from './posting-cursor.ts'

/** How a row's `relevance` is made up: `text` is the sum of what matched, times the factors. */
export interface RowExplanation {
  /** Set where the query is the listing's id, host or whole name, which puts it first. */
  exact?: ExactKind
  matched: { term: string; as: string; fields: readonly SearchField[]; score: number }[]
  text: number
  trust_factor: number
  live_tested_factor: number
}

/** One explanation for each row, in their order. */
export function explainRows(
  index: SearchIndex,
  part: IndexPart,
  { text, plan, rows }: { text: string; plan: QueryPlan; rows: readonly { row: number }[] },
): RowExplanation[] {
  const wanted = rows.map(({ row }) => row)
  const scores = scoreRows(index, part, plan.terms, wanted)
  const exact = exactRows(index, part, { text, bits: null })
  return wanted.map((row) => {
    const { total, terms } = scores.get(row) ?? { total: 0, terms: [] }
    const standing = part.standings[row] ?? NO_TRUST
    const trust = trustOf(standing)
    const kind = kindOf(exact, row)
    return {
      ...(kind !== null && { exact: kind }),
      matched: terms
        .map(({ term, fields, score }) => ({ term: term.asked, as: term.written, fields, score }))
        .sort((a, b) => b.score - a.score),
      text: total,
      trust_factor: trustFactor(trust === NO_TRUST ? null : trust),
      live_tested_factor: isLiveTested(standing) ? LIVE_TESTED_FACTOR : 1,
    }
  })
}

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
