/**
 * The searchable terms in a set of rows, by number: first words, numbered as in `words`, then pairs
 * of words that are adjacent in listings.
 */
export interface TermIndex {
  words: WordTable
  pairs: WordPairs
  postings: Postings
  /** The `saturate` value for each posting code: a posting's score before it is multiplied by idf and the term's weight. */
  scoreTable: Float64Array
  /** For each posting code, the fields that contain the term, with a bit for each of `SEARCH_FIELDS`. */
  scoreTableFields: Uint8Array
}

/** The rows that are ranked together: organic or first-party rows. */
export type RangeName = 'organic' | 'firstParty'

type TermDictionary = Pick<TermIndex, 'words' | 'pairs'>

/** Pairs of words by number: for each word, the words with higher numbers that it is paired with, ascending. */
export interface WordPairs {
  /** The start of each word's pairs in `seconds`, and one entry more than there are words. */
  starts: Uint32Array
  seconds: Uint32Array
}

/** The rows that have each term; a term's rows are contiguous and in order. */
interface Postings {
  /** The start of each term's postings, and one entry more than there are terms. */
  starts: Uint32Array
  /** The end of a term's postings in organic rows, where those in first-party rows begin. */
  organicEnds: Uint32Array
  rows: Uint32Array
  /** The position in `scoreTable` of each posting's score. */
  codes: Uint16Array
}

const PAIR_MARK = ' '

/** The text of a pair of terms, in either order; no word contains a space. */
export function pairText(a: string, b: string): string {
  return a < b ? a + PAIR_MARK + b : b + PAIR_MARK + a
}

/** A term's number, or -1. */
export function findTerm(terms: TermDictionary, text: string): number {
  const end = text.indexOf(PAIR_MARK)
  if (end < 0) return findWord(terms.words, text)
  const [first, second] = [text.slice(0, end), text.slice(end + 1)]
  return findPair(terms, findWord(terms.words, first), findWord(terms.words, second))
}

/** The number for a pair of words, in either order, or -1. */
export function findPair({ words, pairs }: TermDictionary, a: number, b: number): number {
  if (a < 0 || b < 0) return -1
  const [lower, higher] = [Math.min(a, b), Math.max(a, b)]
  const end = pairs.starts[lower + 1] ?? 0
  const isBehind = (place: number) => (pairs.seconds[place] ?? 0) >= higher
  const place = firstPlace(pairs.starts[lower] ?? 0, end, isBehind)
  return place < end && pairs.seconds[place] === higher ? countWords(words) + place : -1
}

/** A term's postings in a range (none for -1): its rows in order, and each row's position in `scoreTable`. */
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

/** How many organic rows have the term with this number; 0 for -1, which means no term. */
export function rowsOf({ postings: { starts, organicEnds } }: TermIndex, number: number): number {
  return number < 0 ? 0 : (organicEnds[number] ?? 0) - (starts[number] ?? 0)
}

/** Sorted words, which can be found by their text and by prefix. */
export interface WordTable {
  bytes: Uint8Array
  /** The start of each word's UTF-8 in `bytes`, and one entry more than there are words. */
  starts: Uint32Array
  /** Word numbers plus one, by the word's hash: open addressing; 0 is a free slot. */
  slots: Uint32Array
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const SLOTS_PER_WORD = 1.25
const MAX_ASCII = 0x7f
/** The most bytes that a UTF-16 code unit takes. */
const MAX_UTF8 = 3

/** @param words distinct, and sorted by UTF-16 code unit as `Array.prototype.sort` does */
export function buildWordTable(words: readonly string[]): WordTable {
  const starts = new Uint32Array(words.length + 1)
  let bytes = new Uint8Array(1024)
  words.forEach((word, at) => {
    const start = starts[at] ?? 0
    if (start + word.length * MAX_UTF8 > bytes.length) {
      const larger = new Uint8Array(bytes.length * 2 + word.length * MAX_UTF8)
      larger.set(bytes)
      bytes = larger
    }
    starts[at + 1] = start + encoder.encodeInto(word, bytes.subarray(start)).written
  })
  bytes = bytes.slice(0, starts[words.length])
  const slots = new Uint32Array(Math.ceil(words.length * SLOTS_PER_WORD) + 1)
  const table = { bytes, starts, slots }
  words.forEach((word, number) => {
    slots[slotOf(table, word)] = number + 1
  })
  return table
}

/** The start of each piece in their concatenation, and the end of the last piece. */
export function startsOf(lengths: Uint32Array): Uint32Array {
  const starts = new Uint32Array(lengths.length + 1)
  lengths.forEach((length, at) => {
    starts[at + 1] = (starts[at] ?? 0) + length
  })
  return starts
}

function countWords({ starts }: WordTable): number {
  return starts.length - 1
}

/** A word's number, or -1. */
export function findWord(table: WordTable, word: string): number {
  return (table.slots[slotOf(table, word)] ?? 0) - 1
}

export function wordAt({ bytes, starts }: WordTable, number: number): string {
  return decoder.decode(bytes.subarray(starts[number], starts[number + 1]))
}

/** The numbers of all words that start with `prefix`: `[first, end)`. */
export function wordsWithPrefix(table: WordTable, prefix: string): [number, number] {
  const count = countWords(table)
  const first = firstPlace(0, count, (number) => wordAt(table, number) >= prefix)
  return [first, firstPlace(first, count, (number) => !wordAt(table, number).startsWith(prefix))]
}

/** A word's slot, or the free slot that it would get. */
function slotOf(table: WordTable, word: string): number {
  const { slots } = table
  let slot = hashText(word) % slots.length
  for (let held = slots[slot] ?? 0; held !== 0; held = slots[slot] ?? 0) {
    if (isWord(table, held - 1, word)) break
    slot = slot + 1 === slots.length ? 0 : slot + 1
  }
  return slot
}

/** Nearly every word is ASCII, and is compared where it is stored, without making a string. */
function isWord(table: WordTable, number: number, word: string): boolean {
  const { bytes, starts } = table
  const start = starts[number] ?? 0
  const length = (starts[number + 1] ?? 0) - start
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[start + at] ?? 0
    // A word cut inside a surrogate pair is stored with U+FFFD, so that UTF-8 can encode it.
    if (byte > MAX_ASCII) return wordAt(table, number) === word.toWellFormed()
    if (byte !== word.charCodeAt(at)) return false
  }
  return length === word.length
}

/** An odd number without a pattern, so that every bit of a character reaches the high bits. */
const BASE = 0x9e3779b1

/** A text's 32-bit hash, which determines the layout of the tables in the index file. */
export function hashText(text: string): number {
  let sum = 0
  for (let at = 0; at < text.length; at += 1) sum = (Math.imul(sum, BASE) + text.charCodeAt(at)) | 0
  // Spreads the sum over all 32 bits: the last characters alone hardly affect the high bits.
  let hash = Math.imul(sum ^ (sum >>> 16), 0x85ebca6b)
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35)
  return (hash ^ (hash >>> 16)) >>> 0
}

/** The first position in `[low, high)` that passes a monotonic test; `high` if none does. */
export function firstPlace(low: number, high: number, test: (place: number) => boolean): number {
  let [from, to] = [low, high]
  while (from < to) {
    const middle = (from + to) >>> 1
    if (test(middle)) to = middle
    else from = middle + 1
  }
  return from
}
