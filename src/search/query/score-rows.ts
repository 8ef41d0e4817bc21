import { inverseDocumentFrequency } from '../../domain/search/search-rank.ts'
import type { SearchIndex } from '../index/index-shape.ts'
import { findPostings, findTerm, type TermIndex } from '../index/postings.ts'
import type { PlanTerm } from './plan-query.ts'

/** A row that holds a term, and the sum of what its terms score. */
type TellRow = (row: number, score: number) => void

/** The score of each row; 0 between searches, which are synchronous: the same arrays serve them all. */
let scores = new Float64Array(0)
/** Rows with a score, in the order they got one. */
let matched = new Uint32Array(0)

/**
 * Adds up the postings of every term, then tells each row that has one. A posting is the distance to the
 * row before, a varint, and a palette number of a byte or two, see `Postings`.
 */
export function scoreRows(
  index: SearchIndex,
  part: TermIndex & { rows: number },
  terms: readonly PlanTerm[],
  tell: TellRow,
): void {
  if (scores.length < part.rows) {
    scores = new Float64Array(part.rows)
    matched = new Uint32Array(part.rows)
  }
  let count = 0
  for (const term of terms) {
    const number = numberIn(index, part, term)
    if (number >= 0) count = addTerm(part, number, weightIn(part, term), count)
  }
  for (let at = 0; at < count; at += 1) {
    const row = matched[at] ?? 0
    const score = scores[row] ?? 0
    scores[row] = 0
    tell(row, score)
  }
}

/** @returns how many rows have a score now */
function addTerm(
  { postings, palette }: TermIndex,
  number: number,
  weight: number,
  count: number,
): number {
  const { bytes } = postings
  const run = findPostings(postings, number)
  let { at } = run
  let next = count
  let row = 0
  for (let left = run.rows; left > 0; left -= 1) {
    let byte = bytes[at++] ?? 0
    row += byte & 0x7f
    for (let shift = 7; byte > 0x7f; shift += 7) {
      byte = bytes[at++] ?? 0
      row += (byte & 0x7f) << shift
    }
    let code = bytes[at++] ?? 0
    if (code > 0x7f) code = (code & 0x7f) | ((bytes[at++] ?? 0) << 7)
    const before = scores[row] ?? 0
    scores[row] = before + weight * (palette[code] ?? 0)
    // Written over by the next one where the row had a score.
    matched[next] = row
    if (before === 0) next += 1
  }
  return next
}

/** A term's number in a part, or -1. */
export function numberIn({ organic }: SearchIndex, part: TermIndex, term: PlanTerm): number {
  return part === organic ? term.number : findTerm(part, term.text)
}

/** What a term counts, times its idf among the organic rows. */
export function weightIn({ scoredRows }: TermIndex, { weight, rows }: PlanTerm): number {
  return weight * inverseDocumentFrequency(scoredRows, rows)
}
