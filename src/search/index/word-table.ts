import { firstPlace } from './first-place.ts'
import { hashText } from './hash-text.ts'

/** Sorted words, found by their text and by prefix. */
export interface WordTable {
  bytes: Uint8Array
  /** Where each word's UTF-8 starts in `bytes`; one more than there are words. */
  starts: Uint32Array
  /** Word numbers plus one by the hash of the word: open addressing, 0 where nothing is. */
  slots: Uint32Array
}

const encoder = new TextEncoder()
const decoder = new TextDecoder()
const SLOTS_PER_WORD = 1.25
const MAX_ASCII = 0x7f

/** @param words sorted by UTF-16 code unit, as `Array.prototype.sort` does, without repeats */
export function buildWordTable(words: readonly string[]): WordTable {
  const encoded = words.map((word) => encoder.encode(word))
  const starts = startsOf(encoded)
  const bytes = new Uint8Array(starts[words.length] ?? 0)
  encoded.forEach((word, at) => {
    bytes.set(word, starts[at])
  })
  const slots = new Uint32Array(Math.ceil(words.length * SLOTS_PER_WORD) + 1)
  const table = { bytes, starts, slots }
  words.forEach((word, number) => {
    slots[slotOf(table, word)] = number + 1
  })
  return table
}

/** The start of each piece in their concatenation, and the end of the last one. */
export function startsOf(pieces: readonly Uint8Array[]): Uint32Array {
  const starts = new Uint32Array(pieces.length + 1)
  pieces.forEach(({ length }, at) => {
    starts[at + 1] = (starts[at] ?? 0) + length
  })
  return starts
}

export function countWords({ starts }: WordTable): number {
  return starts.length - 1
}

/** The number of a word, or -1. */
export function findWord(table: WordTable, word: string): number {
  return (table.slots[slotOf(table, word)] ?? 0) - 1
}

/** The text of a word. */
export function wordAt({ bytes, starts }: WordTable, number: number): string {
  return decoder.decode(bytes.subarray(starts[number], starts[number + 1]))
}

/** The numbers of all words that start with `prefix`: `[first, end)`. */
export function wordsWithPrefix(table: WordTable, prefix: string): [number, number] {
  const count = countWords(table)
  const first = firstPlace(0, count, (number) => wordAt(table, number) >= prefix)
  return [first, firstPlace(first, count, (number) => !wordAt(table, number).startsWith(prefix))]
}

/** The slot of a word, or the free one it would get. */
function slotOf(table: WordTable, word: string): number {
  const { slots } = table
  let slot = hashText(word) % slots.length
  for (let held = slots[slot] ?? 0; held !== 0; held = slots[slot] ?? 0) {
    if (isWord(table, held - 1, word)) break
    slot = slot + 1 === slots.length ? 0 : slot + 1
  }
  return slot
}

/** Nearly every word is ASCII: those are compared in place, without making a string. */
function isWord(table: WordTable, number: number, word: string): boolean {
  const { bytes, starts } = table
  const start = starts[number] ?? 0
  const length = (starts[number + 1] ?? 0) - start
  for (let at = 0; at < length; at += 1) {
    const byte = bytes[start + at] ?? 0
    // A word cut inside a surrogate pair is stored as UTF-8 can encode it.
    if (byte > MAX_ASCII) return wordAt(table, number) === word.toWellFormed()
    if (byte !== word.charCodeAt(at)) return false
  }
  return length === word.length
}
