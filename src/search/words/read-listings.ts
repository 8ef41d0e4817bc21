import { chunksOf, hasSingleLetter, splitChunk, stemWord, type Word } from './split-text.ts'
import type { WordSets } from './word-sets.ts'

/** A word of the listings: its facts are looked up once. */
interface ListingWord {
  /** As written, folded. */
  text: string
  /** Its term; a stop word that is kept at all is kept as it is written. */
  term: string
  isStop: boolean
  /** Counts into its text's length and forms pairs; stop words and generic words do neither. */
  tells: boolean
  /** Whether a query may be meant to have it. */
  isSpelled: boolean
}

/** A run of characters: its words, and terms that are other spellings of them. */
interface ReadChunk {
  words: readonly ListingWord[]
  others: readonly string[]
}

/** Words as they are written, with the number of organic listings that write them so. */
interface Spelling {
  text: string
  rows: number
}

/** Callbacks for the parts of a text. */
interface TextListener {
  /** Every term; those that count into its length are `counted`. */
  word(term: string, counted: boolean): void
  /** Adjacent terms. */
  pair(before: string, term: string): void
  /** A word as it is written, where a query may be meant to have it. */
  written(text: string): void
}

/** Shorter words have too many neighbours one edit away, longer ones are not words. */
const SPELLED = /^[a-z][a-z0-9]{2,23}$/
/** Listings that must write a word: one is enough in a small index, but noise in a large one. */
const MOST_NEEDED = 5
const LISTINGS_A_STEP = 2000

/** @returns a reader of listings' texts that remembers their words */
export function createListingReader(sets: WordSets) {
  const words = new Map<string, ListingWord>()
  const chunks = new Map<string, ReadChunk>()
  const wordOf = (text: string): ListingWord => {
    const known = words.get(text)
    if (known !== undefined) return known
    const isStop = sets.stop.has(text)
    const term = isStop ? text : stemWord(text)
    const tells = !isStop && !sets.generic.has(text)
    const word = { text, term, isStop, tells, isSpelled: SPELLED.test(text) }
    words.set(text, word)
    return word
  }
  const readChunk = (chunk: string): ReadChunk => {
    const known = chunks.get(chunk)
    if (known !== undefined) return known
    const split = splitChunk(chunk)
    const read = {
      words: split.flatMap(plainParts).map(wordOf),
      others: split.flatMap((word) => otherSpellings(word, sets)),
    }
    chunks.set(chunk, read)
    return read
  }
  /** @param keepStopWords names keep theirs, so that a search for nothing else can find them */
  return function read(text: string, keepStopWords: boolean, tell: TextListener): void {
    const read = chunksOf(text).map(readChunk)
    for (const { others } of read) for (const term of others) tell.word(term, false)
    const found = read.flatMap((chunk) => chunk.words)
    for (const word of found) {
      if (word.isSpelled) tell.written(word.text)
      if (keepStopWords || !word.isStop) tell.word(word.term, word.tells)
    }
    const telling = found.filter((word) => word.tells)
    telling.forEach(({ term }, at) => {
      const before = telling[at - 1]?.term ?? term
      if (before !== term) tell.pair(before, term)
    })
  }
}

/** @param written how many listings write each word @param rows how many listings there are */
export function toSpellings(written: ReadonlyMap<string, number>, rows: number): Spelling[] {
  const needed = Math.min(MOST_NEEDED, 1 + Math.floor(rows / LISTINGS_A_STEP))
  const spellings = [...written].map(([text, rows]) => ({ text, rows }))
  return spellings.filter(({ rows }) => rows >= needed)
}

/** Words that count: each once. CamelCase counts as the one word it is written as. */
function plainParts(word: Word): readonly string[] {
  const isOne = word.style === 'plain' || word.style === 'camel'
  return isOne || (word.style === 'hyphen' && hasSingleLetter(word)) ? [word.whole] : word.parts
}

/** CamelCase is also found by its parts, and with more than two also as a whole, in order. */
function otherSpellings({ style, parts, whole }: Word, { stop }: WordSets): string[] {
  if (style === 'camel')
    return parts.filter((part) => part.length > 1 && !stop.has(part)).map(stemWord)
  return style === 'hyphen' && parts.length > 2 ? [stemWord(whole)] : []
}

export type TermNumbers = ReturnType<typeof createTermNumbers>

/**
 * The terms of an index as numbers, counted from 0 in the order they come: words, and pairs of two
 * words' terms in either order. One map per term for its pairs: a single `Map` ends at 2^24
 * entries, and the neighbours in the texts of a million listings are about as many.
 */
export function createTermNumbers() {
  const words = new Map<string, number>()
  const pairs = new Map<number, Map<number, number>>()
  let size = 0
  const take = <Key>(numbers: Map<Key, number>, key: Key) => {
    const known = numbers.get(key)
    if (known !== undefined) return known
    numbers.set(key, size)
    size += 1
    return size - 1
  }
  return {
    /** By text. */
    words: words as ReadonlyMap<string, number>,
    /** By the lower term and then the higher one. */
    pairs: pairs as ReadonlyMap<number, ReadonlyMap<number, number>>,
    /** The number of a word's term; a new one for a term not seen before. */
    ofWord: (text: string): number => take(words, text),
    ofPair(a: number, b: number): number {
      const lower = Math.min(a, b)
      const others = pairs.get(lower) ?? new Map<number, number>()
      if (others.size === 0) pairs.set(lower, others)
      return take(others, Math.max(a, b))
    },
  }
}
