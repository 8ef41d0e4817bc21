import { countingSort } from '../numbers/counting-sort.ts'
import type { TermLexicon } from '../words/term-lexicon.ts'
import { buildWordTable, countWords, findWord, type WordTable } from './word-table.ts'

/**
 * All terms in order: pairs, whose text starts with a space, then words. Pairs are most of the
 * terms, but both words of each are terms themselves, so that a pair needs no text of its own.
 * A term's number is its place in that order.
 */
export interface TermDictionary {
  words: WordTable
  pairs: WordPairs
}

const PAIR_MARK = ' '

export function buildTermDictionary({ words, firsts, seconds }: SortedTerms): TermDictionary {
  return { words: buildWordTable(words), pairs: buildWordPairs(firsts, seconds, words.length) }
}

function wordsOfPair(pair: string): [string, string] {
  const middle = pair.indexOf(PAIR_MARK, PAIR_MARK.length)
  return [pair.slice(PAIR_MARK.length, middle), pair.slice(middle + PAIR_MARK.length)]
}

export function countTerms({ words, pairs }: TermDictionary): number {
  return pairs.seconds.length + countWords(words)
}

/** The number of a term, or -1. */
export function findTerm(dictionary: TermDictionary, term: string): number {
  const { words, pairs } = dictionary
  if (!term.startsWith(PAIR_MARK)) return termOfWord(dictionary, findWord(words, term))
  const [first, second] = wordsOfPair(term)
  return findPair(pairs, findWord(words, first), findWord(words, second))
}

/** The number of the pair of two words' terms, in either order, or -1. */
export function findPairTerm(dictionary: TermDictionary, a: number, b: number): number {
  const { pairs } = dictionary
  if (a < 0 || b < 0) return -1
  const firstWord = pairs.seconds.length
  return findPair(pairs, Math.min(a, b) - firstWord, Math.max(a, b) - firstWord)
}

function termOfWord({ pairs }: TermDictionary, word: number): number {
  return word < 0 ? -1 : pairs.seconds.length + word
}

/** Pairs of words, by their numbers alone: the second words of each first word, ascending. */
export interface WordPairs {
  /** Where the pairs of each word start in `seconds`; one more than there are words. */
  starts: Uint32Array
  /** Of two bytes each as long as all words have numbers that short. */
  seconds: Uint16Array | Uint32Array
}

const SHORT_NUMBERS = 2 ** 16

/**
 * @param firsts the first word of each pair, in order
 * @param seconds the second of each, in order among those with the same first
 */
export function buildWordPairs(
  firsts: Uint32Array,
  seconds: Uint32Array,
  words: number,
): WordPairs {
  const { starts } = countingSort(firsts, words)
  return { starts, seconds: hasShortNumbers(words) ? Uint16Array.from(seconds) : seconds }
}

/** Whether `seconds` has two bytes a number, given how many words there are. */
export function hasShortNumbers(words: number): boolean {
  return words <= SHORT_NUMBERS
}

/** The number of a pair, or -1. */
export function findPair({ starts, seconds }: WordPairs, first: number, second: number): number {
  if (first < 0) return -1
  let low = starts[first] ?? 0
  const end = starts[first + 1] ?? 0
  let high = end
  while (low < high) {
    const middle = (low + high) >> 1
    if ((seconds[middle] ?? 0) < second) low = middle + 1
    else high = middle
  }
  return low < end && seconds[low] === second ? low : -1
}

/**
 * The terms of a part in order: pairs by their first and then their second word, then words. That
 * is the order of their texts, as a pair's has a space before each word and no word has any.
 */
export interface SortedTerms {
  /** Sorted by UTF-16 code unit, as `Array.prototype.sort` does, without repeats. */
  words: readonly string[]
  /** Of each pair the place of the word that sorts first, and of the other, in `words`. */
  firsts: Uint32Array
  seconds: Uint32Array
}

/**
 * @param terms numbers in the lexicon
 * @returns with the terms in order the lexicon's number of each
 * @throws Error naming a pair of which a word is not among the terms
 */
export function sortTerms(lexicon: TermLexicon, terms: Uint32Array) {
  const words = Array.from(
    terms.filter((term) => !lexicon.isPair(term)),
    lexicon.wordOf,
  ).sort()
  const wordTerms = words.map(lexicon.find)
  /** By the lexicon's number; plus one. */
  const places = new Uint32Array(lexicon.size())
  wordTerms.forEach((term, place) => {
    places[term] = place + 1
  })
  const pairs = terms.filter(lexicon.isPair)
  const firsts = new Uint32Array(pairs.length)
  const seconds = new Uint32Array(pairs.length)
  pairs.forEach((pair, at) => {
    const first = placeOfWord(lexicon, places, pair, lexicon.firstOf(pair))
    const second = placeOfWord(lexicon, places, pair, lexicon.secondOf(pair))
    firsts[at] = Math.min(first, second)
    seconds[at] = Math.max(first, second)
  })
  const order = sortPairs(firsts, seconds, words.length)
  const sorted: SortedTerms = {
    words,
    firsts: order.map((at) => firsts[at] ?? 0),
    seconds: order.map((at) => seconds[at] ?? 0),
  }
  const numbers = new Uint32Array(terms.length)
  numbers.set(order.map((at) => pairs[at] ?? 0))
  numbers.set(wordTerms, pairs.length)
  return { terms: sorted, numbers }
}

function placeOfWord(
  lexicon: TermLexicon,
  places: Uint32Array,
  pair: number,
  word: number,
): number {
  const place = places[word] ?? 0
  if (place > 0) return place - 1
  throw new Error(
    `The pair “${lexicon.textOf(pair).trim()}” was indexed, but not its word “${lexicon.wordOf(word)}” as a term.`,
  )
}

/** By the second and then, which keeps that order among equals, by the first. */
function sortPairs(firsts: Uint32Array, seconds: Uint32Array, words: number): Uint32Array {
  const bySecond = countingSort(seconds, words).order
  const { order } = countingSort(
    bySecond.map((at) => firsts[at] ?? 0),
    words,
  )
  return order.map((at) => bySecond[at] ?? 0)
}
