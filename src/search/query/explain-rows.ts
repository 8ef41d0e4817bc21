import {
  LIVE_TESTED_FACTOR,
  SEARCH_FIELDS,
  type SearchField,
  trustFactor,
} from '../../domain/search/search-rank.ts'
import type { Explanation } from '../../domain/search/search-response.ts'
import type { RowRange, SearchIndex } from '../index/index-shape.ts'
import { readPostings } from '../index/postings.ts'
import { isLiveTested, NO_TRUST, trustOf } from '../index/standing.ts'
import { exactRows, kindOf } from './exact-rows.ts'
import type { PlanTerm, QueryPlan } from './plan-query.ts'
import { weightIn } from './score-rows.ts'

/** One explanation for each row, in their order. */
export function explainRows(
  index: SearchIndex,
  range: RowRange,
  { text, plan, rows }: { text: string; plan: QueryPlan; rows: readonly { row: number }[] },
): Explanation[] {
  const wanted = rows.map(({ row }) => row)
  const scores = scoreRows(index, range, plan.terms, wanted)
  const exact = exactRows(index, range, { text, bits: null })
  return wanted.map((row) => {
    const { total, terms } = scores.get(row) ?? { total: 0, terms: [] }
    const standing = index.standings[row] ?? NO_TRUST
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

interface RowScore {
  total: number
  terms: { term: PlanTerm; fields: SearchField[]; score: number }[]
}

/** The text scores of a few rows, with each term's share and the fields that hold it. */
function scoreRows(
  index: SearchIndex,
  range: RowRange,
  terms: readonly PlanTerm[],
  rows: readonly number[],
): ReadonlyMap<number, RowScore> {
  const found = new Map<number, RowScore>(rows.map((row) => [row, { total: 0, terms: [] }]))
  for (const term of terms) {
    const postings = readPostings(index.terms, term.number, range.name)
    postings.rows.forEach((row, at) => {
      const scored = found.get(row)
      if (scored === undefined) return
      const code = postings.codes[at] ?? 0
      const score = weightIn(index, term) * (index.terms.scoreTable[code] ?? 0)
      scored.total += score
      const fields = SEARCH_FIELDS.filter(
        (_, n) => ((index.terms.scoreTableFields[code] ?? 0) >> n) & 1,
      )
      scored.terms.push({ term, fields, score })
    })
  }
  return found
}
