import { createFirstSpellings } from './first-spellings.ts'
import { createNumberList, type NumberList } from './number-list.ts'
import type { TextAnalysis } from './text-analysis.ts'
import { kindOf, numberIn, PAIR_STEP, WORD_STEP } from './text-step.ts'

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

/** Stands for "in two listings" where the number of the only listing would stand. */
const ENOUGH = 0xffffffff

/** Counts the texts of listings, one listing after the other, and then decides. */
export function createVocabulary(analysis: TextAnalysis) {
  const { words, terms } = analysis
  const termListings = createNumberList()
  const pairListings = createNumberList()
  const spellings = createFirstSpellings(analysis)
  let listing = 0
  return {
    countListing(texts: Iterable<string>): void {
      listing += 1
      for (const text of texts) {
        for (const step of analysis.stepsOf(text)) {
          const number = numberIn(step)
          if (kindOf(step) === WORD_STEP) {
            count(termListings, words.termOf(number), listing)
            spellings.add(number)
          } else if (kindOf(step) === PAIR_STEP) count(pairListings, number, listing)
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
        surfaces: spellings.toMap(),
      }
    },
  }
}

/** Listings are counted from 1, so that 0 stands for none. */
function count(listings: NumberList, number: number, listing: number): void {
  const known = listings.get(number)
  if (known === 0) listings.set(number, listing)
  else if (known !== listing && known !== ENOUGH) listings.set(number, ENOUGH)
}
