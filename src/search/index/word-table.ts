import { buildHashTable, findNumber, type HashTable } from '../numbers/hash-table.ts'
import { hashText } from '../numbers/hash-text.ts'

/** Words in order, findable by their text and by how they start. */
export interface WordTable {
  bytes: Uint8Array
  /** Where each word's UTF-8 starts in `bytes`; one more than there are words. */
  starts: Uint32Array
  byText: HashTable
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const SLOTS_PER_WORD = 1.25
const MAX_ASCII = 0x7f

/** @param words sorted by UTF-16 code unit, as `Array.prototype.sort` does, without repeats */
export function buildWordTable(words: readonly string[]): WordTable {
  const encoded = words.map((word) => encoder.encode(word))
  const starts = new Uint32Array(words.length + 1)
  encoded.forEach((word, at) => {
    starts[at + 1] = (starts[at] ?? 0) + word.byteLength
  })
  const bytes = new Uint8Array(starts[words.length] ?? 0)
  encoded.forEach((word, at) => {
    bytes.set(word, starts[at] ?? 0)
  })
  const hashes = words.map(hashText)
  const byText = buildHashTable([...words.keys()], (at) => hashes[at] ?? 0, {
    limit: words.length,
    slotsPerNumber: SLOTS_PER_WORD,
  })
  return { bytes, starts, byText }
}

export function countWords({ starts }: WordTable): number {
  return starts.length - 1
}

/** The number of a word, or -1. */
export function findWord(table: WordTable, word: string): number {
  return findNumber(table.byText, hashText(word), (number) => isWord(table, number, word))
}

/** The text of a word. */
export function wordAt({ bytes, starts }: WordTable, number: number): string {
  return decoder.decode(bytes.subarray(starts[number], starts[number + 1]))
}

/** The numbers of all words that start with `prefix`: `[first, end)`. */
export function wordsWithPrefix(table: WordTable, prefix: string): [number, number] {
  const first = firstWord(table, 0, (number) => comparePrefix(table, number, prefix) >= 0)
  return [first, firstWord(table, first, (number) => comparePrefix(table, number, prefix) > 0)]
}

/** Nearly every word is ASCII: those are compared in place, without making a string. */
function isWord(table: WordTable, number: number, word: string): boolean {
  const { bytes, starts } = table
  const start = starts[number] ?? 0
  const length = (starts[number + 1] ?? 0) - start
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[start + at] ?? 0
    // A word cut inside a surrogate pair is kept as UTF-8 can write it.
    if (byte > MAX_ASCII) return wordAt(table, number) === word.toWellFormed()
    if (byte !== word.charCodeAt(at)) return false
  }
  return length === word.length
}

/** Below 0 for a word before all that start with the prefix, 0 for one of them, above 0 after. */
function comparePrefix(table: WordTable, number: number, prefix: string): number {
  const { bytes, starts } = table
  const start = starts[number] ?? 0
  const length = (starts[number + 1] ?? 0) - start
  for (let at = 0; at < prefix.length; at += 1) {
    if (at === length) return -1
    const byte = bytes[start + at] ?? 0
    if (byte > MAX_ASCII) return compareText(wordAt(table, number).slice(0, prefix.length), prefix)
    if (byte !== prefix.charCodeAt(at)) return byte - prefix.charCodeAt(at)
  }
  return 0
}

function compareText(a: string, b: string): number {
  if (a === b) return 0
  return a < b ? -1 : 1
}

/** The first word, from `from` on, for which a test holds that then holds for all after it. */
function firstWord(table: WordTable, from: number, test: (number: number) => boolean): number {
  let low = from
  let high = countWords(table)
  while (low < high) {
    const middle = (low + high) >> 1
    if (test(middle)) high = middle
    else low = middle + 1
  }
  return low
}

/** Words as they are written, with the number of listings that write them so. */
export interface SpellingTable {
  words: WordTable
  rows: Uint32Array
}

export function buildSpellingTable(
  spellings: readonly { text: string; rows: number }[],
): SpellingTable {
  const sorted = spellings.toSorted((a, b) => compareText(a.text, b.text))
  return {
    words: buildWordTable(sorted.map(({ text }) => text)),
    rows: Uint32Array.from(sorted, ({ rows }) => rows),
  }
}
