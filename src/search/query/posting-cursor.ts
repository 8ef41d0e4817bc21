import { inverseDocumentFrequency } from '../../domain/search/search-rank.ts'
import type { SearchIndex } from '../index/index-shape.ts'
import { findPostings, findTerm, type TermIndex } from '../index/postings.ts'
import { varintAt, varintBytes } from '../numbers/varint.ts'
import type { PlanTerm } from './plan-query.ts'

/** A place in the postings of one term, which lie as `Postings` says. */
export interface PostingCursor {
  term: PlanTerm
  bytes: Uint8Array
  /** Where the palette number of the posting at `row` starts. */
  at: number
  /** The row of the next posting; `NO_ROW` behind the last one. */
  row: number
  /** Postings that are left, with the one at `row`. */
  left: number
  palette: Float64Array
  /** What the term counts, times its idf. */
  weight: number
}

export const NO_ROW = 0x7fffffff

/** The postings of every term of a plan that a part has, to be scored with the organic rows' idf. */
export function openPlan(
  { organic }: SearchIndex,
  part: TermIndex,
  terms: readonly PlanTerm[],
): PostingCursor[] {
  return terms.flatMap((term) => {
    const number = part === organic ? term.number : findTerm(part, term.text)
    return number < 0 ? [] : [openPostings(part, number, term)]
  })
}

function openPostings(part: TermIndex, number: number, term: PlanTerm): PostingCursor {
  const { postings, palette, scoredRows } = part
  const run = findPostings(postings, number)
  const row = varintAt(postings.bytes, run.at)
  return {
    term,
    bytes: postings.bytes,
    at: run.at + varintBytes(row),
    row,
    left: run.rows,
    palette,
    weight: term.weight * inverseDocumentFrequency(scoredRows, term.rows),
  }
}
