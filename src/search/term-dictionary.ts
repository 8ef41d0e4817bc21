import type { SortedTerms } from './sorted-terms.ts'
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
