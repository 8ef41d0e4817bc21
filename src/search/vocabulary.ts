import { createNumberList, type NumberList } from './number-list.ts'
import { kindOf, numberIn, PAIR_STEP, type TextAnalysis, WORD_STEP } from './text-analysis.ts'

/**
 * Terms and pairs that stand in at least two organic listings: only those are worth joined
 * spellings, rarer ones aren't worth a token.
 */
export interface Vocabulary {
  hasTerm(term: number): boolean
  /** The number of a pair's term, or -1 for one that is too rare. */
  termOfPair(pair: number): number
  /** For each term that is only a stem a word as it is written: the first spelling found. */
  surfaces: ReadonlyMap<string, string>
}

/** Stands for "in two listings" where the number of the only listing, plus one, would stand. */
const ENOUGH = 0xffffffff

/** Counts the texts of listings, one listing after the other, and then decides. */
export function createVocabulary(analysis: TextAnalysis) {
  const { words, terms } = analysis
  const termListings = createNumberList()
  const pairListings = createNumberList()
  /** The number of the first spelling, plus one, by term. */
  const spellings = createNumberList()
  /** 1 for each word that stands in an organic listing. */
  const seen = createNumberList()
  let listing = 0
  const countWord = (word: number) => {
    const term = words.termOf(word)
    count(termListings, term, listing)
    seen.set(word, 1)
    if (spellings.get(term) === 0 && words.textOf(word) !== terms.wordOf(term))
      spellings.set(term, word + 1)
  }
  const surfaces = () => {
    const written = new Map<string, string>()
    for (let term = 0; term < spellings.length(); term += 1) {
      const word = spellings.get(term)
      const text = terms.wordOf(term)
      const same = words.find(text)
      if (word === 0 || (same >= 0 && seen.get(same) === 1)) continue
      written.set(text, words.textOf(word - 1))
    }
    return written
  }
  return {
    countListing(texts: Iterable<string>): void {
      listing += 1
      for (const text of texts) {
        for (const step of analysis.stepsOf(text)) {
          if (kindOf(step) === WORD_STEP) countWord(numberIn(step))
          else if (kindOf(step) === PAIR_STEP) count(pairListings, numberIn(step), listing)
        }
      }
    },
    decide(): Vocabulary {
      const pairTerms = createNumberList()
      analysis.pairs.forEach((left, right, pair) => {
        if (pairListings.get(pair) !== ENOUGH) return
        pairTerms.set(pair, terms.addPair(left, right) + 1)
      })
      return {
        hasTerm: (term) => termListings.get(term) === ENOUGH,
        termOfPair: (pair) => pairTerms.get(pair) - 1,
        surfaces: surfaces(),
      }
    },
  }
}

function count(listings: NumberList, number: number, listing: number): void {
  const known = listings.get(number)
  if (known === 0) listings.set(number, listing)
  else if (known !== listing && known !== ENOUGH) listings.set(number, ENOUGH)
}
