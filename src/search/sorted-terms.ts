import { countingSort } from './counting-sort.ts'
import type { TermLexicon } from './term-lexicon.ts'

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
