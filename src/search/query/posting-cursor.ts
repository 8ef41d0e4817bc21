import { inverseDocumentFrequency } from '../../domain/search/search-rank.ts'
import type { SearchIndex } from '../index/index-shape.ts'
import { findPostings, findTerm, type TermIndex } from '../index/postings.ts'
import { varintAt, varintBytes } from '../index/varint.ts'
import type { PlanTerm } from './plan-query.ts'

/** A place in the postings of one term, which lie as `Postings` says. */
export interface PostingCursor {
  bytes: Uint8Array
  /** Where the palette number of the posting at `row` starts. */
  at: number
  /** The row of the next posting; `NO_ROW` behind the last one. */
  row: number
  /** Postings that are left, with the one at `row`. */
  left: number
  palette: Float64Array
  /** See `weightIn`. */
  weight: number
}

export const NO_ROW = 0x7fffffff

/** The postings of every term of a plan that a part has. */
export function openPlan(
  index: SearchIndex,
  part: TermIndex,
  terms: readonly PlanTerm[],
): PostingCursor[] {
  return terms.flatMap((term) => {
    const number = numberIn(index, part, term)
    return number < 0 ? [] : [openPostings(part, number, weightIn(part, term))]
  })
}

/** A term's number in a part, or -1. */
export function numberIn({ organic }: SearchIndex, part: TermIndex, term: PlanTerm): number {
  return part === organic ? term.number : findTerm(part, term.text)
}

/** What a term counts, times its idf among the organic rows. */
export function weightIn({ scoredRows }: TermIndex, { weight, rows }: PlanTerm): number {
  return weight * inverseDocumentFrequency(scoredRows, rows)
}

function openPostings(
  { postings, palette }: TermIndex,
  number: number,
  weight: number,
): PostingCursor {
  const { bytes } = postings
  const { at, rows } = findPostings(postings, number)
  const row = varintAt(bytes, at)
  return { bytes, at: at + varintBytes(row), row, left: rows, palette, weight }
}
