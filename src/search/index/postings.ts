import { firstPlace } from './first-place.ts'
import { varintAt, varintBytes } from './varint.ts'
import { countWords, findWord, type WordTable } from './word-table.ts'

/**
 * The searchable terms of a set of rows, by number: words as `words` numbers them, and behind them
 * pairs of words that listings have side by side.
 */
export interface TermIndex {
  words: WordTable
  pairs: WordPairs
  postings: Postings
  /** `saturate` of each posting number: the score of a posting before idf and the term's weight. */
  palette: Float64Array
  /** Which fields a posting of each number holds its term in, a bit for each of `SEARCH_FIELDS`. */
  paletteFields: Uint8Array
  /** Organic rows: what idf is computed over. */
  scoredRows: number
}

type TermDictionary = Pick<TermIndex, 'words' | 'pairs'>

/** Pairs of words, by their numbers alone: the higher ones of each lower one, ascending. */
export interface WordPairs {
  /** Where the pairs of each word start in `seconds`; one more than there are words. */
  starts: Uint32Array
  /** Of two bytes each as long as all words have numbers that short. */
  seconds: Uint16Array | Uint32Array
}

/**
 * Which rows hold each term. For each term: how many bytes follow, the number of rows, and for each
 * row the distance to the one before, all as varints, and a palette number, seven bits or, with the
 * high bit set, fifteen.
 */
export interface Postings {
  bytes: Uint8Array
  /** Where every sixteenth term starts. */
  blocks: Uint32Array
}

/** The postings of one term: `rows` of them from `at` on. */
export interface PostingRun {
  at: number
  rows: number
}

const PAIR_MARK = ' '
const BLOCK_BITS = 4
export const TERMS_A_BLOCK = 1 << BLOCK_BITS
/** What a reader may look at behind the last posting. */
export const PADDING_BYTES = 4

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

/** @param number of a term */
export function findPostings({ bytes, blocks }: Postings, number: number): PostingRun {
  let at = blocks[number >>> BLOCK_BITS] ?? 0
  for (let skipped = number % TERMS_A_BLOCK; skipped > 0; skipped -= 1) {
    const length = varintAt(bytes, at)
    at += varintBytes(length) + length
  }
  at += varintBytes(varintAt(bytes, at))
  const rows = varintAt(bytes, at)
  return { at: at + varintBytes(rows), rows }
}

/** All postings of a term: its rows in order, and the palette number of each. */
export function readPostings({ postings }: TermIndex, number: number) {
  const { bytes } = postings
  const run = number < 0 ? { at: 0, rows: 0 } : findPostings(postings, number)
  const [rows, codes] = [new Uint32Array(run.rows), new Uint16Array(run.rows)]
  let { at } = run
  let row = 0
  for (let place = 0; place < run.rows; place += 1) {
    const distance = varintAt(bytes, at)
    at += varintBytes(distance)
    row += distance
    rows[place] = row
    const code = bytes[at] ?? 0
    codes[place] = code > 0x7f ? (code & 0x7f) | ((bytes[at + 1] ?? 0) << 7) : code
    at += code > 0x7f ? 2 : 1
  }
  return { rows, codes }
}

/** How many rows hold the term of a number; 0 for -1, which means no term. */
export function rowsOf({ postings }: TermIndex, number: number): number {
  return number < 0 ? 0 : findPostings(postings, number).rows
}
