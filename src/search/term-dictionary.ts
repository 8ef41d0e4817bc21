import { buildWordPairs, findPair, type WordPairs } from './word-pairs.ts'
import {
  buildWordTable,
  countWords,
  findWord,
  type WordTable,
  wordAt,
  wordsWithPrefix,
} from './word-table.ts'

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

/**
 * @param terms sorted by UTF-16 code unit, as `Array.prototype.sort` does, without repeats
 * @throws Error naming a pair of which a word is no term
 */
export function buildTermDictionary(terms: readonly string[]): TermDictionary {
  const pairs = terms.filter((term) => term.startsWith(PAIR_MARK))
  const words = terms.slice(pairs.length)
  const numbers = new Map(words.map((word, at) => [word, at]))
  const firsts = new Uint32Array(pairs.length)
  const seconds = new Uint32Array(pairs.length)
  pairs.forEach((pair, at) => {
    const [first, second] = wordsOfPair(pair)
    firsts[at] = numberIn(numbers, first, pair)
    seconds[at] = numberIn(numbers, second, pair)
  })
  return { words: buildWordTable(words), pairs: buildWordPairs(firsts, seconds, words.length) }
}

function wordsOfPair(pair: string): [string, string] {
  const middle = pair.indexOf(PAIR_MARK, PAIR_MARK.length)
  return [pair.slice(PAIR_MARK.length, middle), pair.slice(middle + PAIR_MARK.length)]
}

function numberIn(numbers: ReadonlyMap<string, number>, word: string, pair: string): number {
  const number = numbers.get(word)
  if (number !== undefined) return number
  throw new Error(`The pair “${pair.trim()}” was indexed, but not its word “${word}” as a term.`)
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

/** The text of a word's term. */
export function termAt({ words, pairs }: TermDictionary, term: number): string {
  return wordAt(words, term - pairs.seconds.length)
}

/** The numbers of all words' terms that start with `prefix`: `[first, end)`. */
export function termsWithPrefix(
  { words, pairs }: TermDictionary,
  prefix: string,
): [number, number] {
  const [first, end] = wordsWithPrefix(words, prefix)
  return [pairs.seconds.length + first, pairs.seconds.length + end]
}
