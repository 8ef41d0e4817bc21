import { inverseDocumentFrequency } from '../../domain/search/search-rank.ts'
import type { SearchIndex } from '../index/index-shape.ts'
import type { RangeName } from '../index/postings.ts'
import { readPostings } from '../index/postings.ts'
import type { PlanTerm } from './plan-query.ts'

/** A row that holds a term, and the sum of what its terms score. */
type TellRow = (row: number, score: number) => void

/** The score of each row; 0 between searches, which are synchronous: the same arrays serve them all. */
let scores = new Float64Array(0)
/** Rows with a score, in the order they got one. */
let matched = new Uint32Array(0)

/** Adds up the postings of every term, then reports each row that has one. */
export function scoreRows(
  index: SearchIndex,
  range: RangeName,
  terms: readonly PlanTerm[],
  tell: TellRow,
): void {
  const { scoreTable } = index.terms
  if (scores.length < index.standings.length) {
    scores = new Float64Array(index.standings.length)
    matched = new Uint32Array(index.standings.length)
  }
  let count = 0
  for (const term of terms) {
    const weight = weightIn(index, term)
    const { rows, codes } = readPostings(index.terms, term.number, range)
    for (let at = 0; at < rows.length; at += 1) {
      const row = rows[at] ?? 0
      const before = scores[row] ?? 0
      scores[row] = before + weight * (scoreTable[codes[at] ?? 0] ?? 0)
      // Overwritten by the next one where the row had a score.
      matched[count] = row
      if (before === 0) count += 1
    }
  }
  for (let at = 0; at < count; at += 1) {
    const row = matched[at] ?? 0
    const score = scores[row] ?? 0
    scores[row] = 0
    tell(row, score)
  }
}

/** A term's weight, times its idf among the organic rows. */
export function weightIn({ organicRows }: SearchIndex, { weight, rows }: PlanTerm): number {
  return weight * inverseDocumentFrequency(organicRows, rows)
}
