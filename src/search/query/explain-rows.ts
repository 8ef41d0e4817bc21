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
import type { PlanTerm, QueryPlan } from './plan-query.ts'
import { openPlan, type PostingCursor } from './posting-cursor.ts'
import type { RankedRow } from './sort-rows.ts'

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
  { text, plan, rows }: { text: string; plan: QueryPlan; rows: readonly RankedRow[] },
): RowExplanation[] {
  const wanted = rows.map(({ row }) => row)
  const scores = scoreRows(
    index,
    part,
    plan.terms,
    wanted.toSorted((a, b) => a - b),
  )
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

/** What one term adds to a row's score, and the fields that hold it. */
export interface TermScore {
  term: PlanTerm
  fields: readonly SearchField[]
  score: number
}

export interface RowScore {
  total: number
  terms: TermScore[]
}

/**
 * The scores of a few rows, term by term.
 * @param rows ascending
 */
export function scoreRows(
  index: SearchIndex,
  part: IndexPart,
  terms: readonly PlanTerm[],
  rows: readonly number[],
): Map<number, RowScore> {
  const found = new Map<number, RowScore>(rows.map((row) => [row, { total: 0, terms: [] }]))
  if (rows.length === 0) return found
  for (const cursor of openPlan(index, part, terms)) {
    eachWanted(cursor, rows, (row, code) => {
      const scored = found.get(row)
      if (scored === undefined) return
      const score = cursor.weight * (part.palette[code] ?? 0)
      const held = part.paletteFields[code] ?? 0
      const fields = SEARCH_FIELDS.filter((_, at) => ((held >> at) & 1) === 1)
      scored.total += score
      scored.terms.push({ term: cursor.term, fields, score })
    })
  }
  return found
}

/** Calls back with the palette number of each of the rows that holds the term. */
function eachWanted(
  { bytes, at: start, row: first, left }: PostingCursor,
  rows: readonly number[],
  tell: (row: number, code: number) => void,
): void {
  let at = start
  let row = first
  let next = 0
  for (let rest = left; rest > 0; rest -= 1) {
    while ((rows[next] ?? row) < row) next += 1
    if (next === rows.length) return
    const byte = bytes[at] ?? 0
    if (rows[next] === row)
      tell(row, byte > 0x7f ? (byte & 0x7f) | ((bytes[at + 1] ?? 0) << 7) : byte)
    at += byte > 0x7f ? 2 : 1
    const distance = varintAt(bytes, at)
    at += varintBytes(distance)
    row += distance
  }
}
