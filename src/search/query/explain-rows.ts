import {
  LIVE_TESTED_FACTOR,
  type SearchField,
  trustFactor,
} from '../../domain/search/search-rank.ts'
import type { ExactKind } from '../index/exact-table.ts'
import type { IndexPart, SearchIndex } from '../index/index-shape.ts'
import { isLiveTested, NO_TRUST, trustOf } from '../index/standing.ts'
import { exactRows, kindOf } from './exact-rows.ts'
import type { QueryPlan } from './plan-query.ts'
import type { RankedRow } from './rank-rows.ts'
import { scoreRows } from './score-rows.ts'

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
