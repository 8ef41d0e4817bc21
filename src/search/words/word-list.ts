import { createLexicon } from '../numbers/lexicon.ts'
import { createNumberList } from '../numbers/number-list.ts'
import { stemWord } from './stem-word.ts'
import type { TermLexicon } from './term-lexicon.ts'
import { toToken } from './text-step.ts'
import type { WordSets } from './word-sets.ts'

/** What an index asks of a word. */
const STOP = 1
const GENERIC = 2

export type WordList = ReturnType<typeof createWordList>

/** Folded words as numbers, with what is to be known of each looked up once. */
export function createWordList(terms: TermLexicon, sets: WordSets) {
  const words = createLexicon()
  const termOf = createNumberList()
  const tokenOf = createNumberList()
  const traits = createNumberList()
  const has = (word: number, trait: number) => (traits.get(word) & trait) !== 0
  return {
    numberOf(word: string): number {
      const number = words.numberOf(word)
      if (number < termOf.length()) return number
      const term = terms.numberOf(stemWord(word))
      const stop = sets.stop.has(word)
      const generic = sets.generic.has(word)
      termOf.push(term)
      // A stop word that is kept at all is kept as it is written.
      tokenOf.push(toToken(stop ? terms.numberOf(word) : term, stop || generic))
      traits.push((stop ? STOP : 0) | (generic ? GENERIC : 0))
      return number
    },
    find: words.find,
    textOf: words.textOf,
    termOf: (word: number): number => termOf.get(word),
    /** What the word adds to the index where it stands alone. */
    tokenOf: (word: number): number => tokenOf.get(word),
    isStopText: (text: string): boolean => sets.stop.has(text),
    isStopWord: (word: number): boolean => has(word, STOP),
    /** Can be one of two neighbours that are found together. */
    isPairable: (word: number): boolean => !has(word, STOP | GENERIC),
  }
}
