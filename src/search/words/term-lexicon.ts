import { createNumberList } from '../numbers/number-list.ts'

/**
 * The term of two neighbours, in either order: `price of ethereum` and `ethereum price` share one.
 * The leading space keeps pairs apart from words; no word has a space.
 */
export function pairTerm(a: string, b: string): string {
  return a < b ? ` ${a} ${b}` : ` ${b} ${a}`
}

export type TermLexicon = ReturnType<typeof createTermLexicon>

/**
 * The terms of an index as numbers, counted from 0 in the order they come: words, and pairs of two
 * words' terms. Most terms are pairs; a string for each would be most of a build's memory.
 */
export function createTermLexicon() {
  const numbers = new Map<string, number>()
  const words: string[] = []
  /** By number: for a pair its two terms, each plus one; for a word the place in `words`, and 0. */
  const firsts = createNumberList()
  const seconds = createNumberList()
  const isPair = (term: number) => seconds.get(term) !== 0
  const add = (first: number, second: number) => {
    firsts.push(first)
    seconds.push(second)
    return firsts.length() - 1
  }
  const wordOf = (term: number) => words[firsts.get(term)] ?? ''
  return {
    /** The number of a word; a new one for a word not seen before. */
    numberOf(word: string): number {
      const known = numbers.get(word)
      if (known !== undefined) return known
      const number = add(words.push(word) - 1, 0)
      numbers.set(word, number)
      return number
    },
    /** The number of a word, or -1. */
    find: (word: string): number => numbers.get(word) ?? -1,
    /** A number for a pair, which must not have one yet. */
    addPair: (first: number, second: number): number => add(first + 1, second + 1),
    isPair,
    /** The two terms of a pair, in the order they were given. */
    firstOf: (pair: number): number => firsts.get(pair) - 1,
    secondOf: (pair: number): number => seconds.get(pair) - 1,
    wordOf,
    textOf: (term: number): string =>
      isPair(term)
        ? pairTerm(wordOf(firsts.get(term) - 1), wordOf(seconds.get(term) - 1))
        : wordOf(term),
    size: (): number => firsts.length(),
  }
}
