import type { SearchField } from '../domain/search/search-rank.ts'
import type { NumberList } from './number-list.ts'
import type { TermLexicon } from './term-lexicon.ts'

/** A frequency above this is cut: BM25 has long been flat by then. */
export const MAX_FREQUENCY = 255
export const FREQUENCY_BITS = 8

/** What was added, as flat numbers: a million listings have some thirty million of each. */
export interface Collected {
  /** What the numbers of terms stand for. */
  lexicon: TermLexicon
  termOf: NumberList
  rowOf: NumberList
  /** Eight bits for each field, in the order of `SEARCH_FIELDS`. */
  frequenciesOf: NumberList
  lengths: Record<SearchField, number[]>
  rows: number
}

/** Row count, lengths and document frequencies of the organic rows: every score is made of them. */
export interface Statistics {
  rows: number
  averageLength: Record<SearchField, number>
  /** @param term its number in the lexicon */
  documentFrequency(field: SearchField, term: number): number
}

/** How often a posting's field holds the term. @param shift `FREQUENCY_BITS` × the field's place */
export function frequencyIn(frequencies: number, shift: number): number {
  return (frequencies >>> shift) & MAX_FREQUENCY
}
