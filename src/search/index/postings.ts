import { firstPlace } from './first-place.ts'
import { countWords, findWord, type WordTable } from './word-table.ts'

/**
 * The searchable terms of a set of rows, by number: words as `words` numbers them, followed by
 * pairs of words that are adjacent in listings.
 */
export interface TermIndex {
  words: WordTable
  pairs: WordPairs
  postings: Postings
  /** `saturate` of each posting number: the score of a posting before idf and the term's weight. */
  scoreTable: Float64Array
  /** Which fields a posting of each number holds its term in, a bit for each of `SEARCH_FIELDS`. */
  scoreTableFields: Uint8Array
}

/** Rows that are ranked together: those of others, or our own. */
export type RangeName = 'organic' | 'firstParty'

type TermDictionary = Pick<TermIndex, 'words' | 'pairs'>

/** Pairs of words, by their numbers alone: the higher ones of each lower one, ascending. */
export interface WordPairs {
  /** Where the pairs of each word start in `seconds`; one more than there are words. */
  starts: Uint32Array
  seconds: Uint32Array
}

/** Which rows hold each term: those of a term are contiguous, in order. */
export interface Postings {
  /** Where the postings of each term start; one more than there are terms. */
  starts: Uint32Array
  /** Where those in organic rows end and those in our own begin. */
  organicEnds: Uint32Array
  rows: Uint32Array
  /** The number in `scoreTable` of what each posting scores. */
  codes: Uint16Array
}

const PAIR_MARK = ' '

/** The text of a pair of terms, in either order; no word has a space. */
export function pairText(a: string, b: string): string {
  return a < b ? a + PAIR_MARK + b : b + PAIR_MARK + a
}

/** The number of a term, or -1. */
export function findTerm(terms: TermDictionary, text: string): number {
  const end = text.indexOf(PAIR_MARK)
  if (end < 0) return findWord(terms.words, text)
  const [first, second] = [text.slice(0, end), text.slice(end + 1)]
  return findPair(terms, findWord(terms.words, first), findWord(terms.words, second))
}

/** The number of the pair of two words, in either order, or -1. */
export function findPair({ words, pairs }: TermDictionary, a: number, b: number): number {
  if (a < 0 || b < 0) return -1
  const [lower, higher] = [Math.min(a, b), Math.max(a, b)]
  const end = pairs.starts[lower + 1] ?? 0
  const isBehind = (place: number) => (pairs.seconds[place] ?? 0) >= higher
  const place = firstPlace(pairs.starts[lower] ?? 0, end, isBehind)
  return place < end && pairs.seconds[place] === higher ? countWords(words) + place : -1
}

/** The postings of a term in a range, none for -1: its rows in order, and the scoreTable number of each. */
export function readPostings(
  { postings: { starts, organicEnds, rows, codes } }: TermIndex,
  number: number,
  range: RangeName = 'organic',
) {
  if (number < 0) return { rows: rows.subarray(0, 0), codes: codes.subarray(0, 0) }
  const middle = organicEnds[number]
  const [start, end] = range === 'organic' ? [starts[number], middle] : [middle, starts[number + 1]]
  return { rows: rows.subarray(start, end), codes: codes.subarray(start, end) }
}

/** How many organic rows hold the term of a number; 0 for -1, which means no term. */
export function rowsOf({ postings: { starts, organicEnds } }: TermIndex, number: number): number {
  return number < 0 ? 0 : (organicEnds[number] ?? 0) - (starts[number] ?? 0)
}
