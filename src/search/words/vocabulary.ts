import { createNumberList, type NumberList } from '../numbers/number-list.ts'
import { stemWord } from './stem-word.ts'
import type { TextAnalysis } from './text-analysis.ts'
import { kindOf, numberIn, PAIR_STEP, WORD_STEP } from './text-step.ts'

/** What the organic listings write, counted once for each listing. */
export interface Vocabulary {
  /** The number of a pair's term, or -1 for one that only one listing has. */
  termOfPair(pair: number): number
  /** Words as they are written, with the number of listings that write them so. */
  spellings: readonly Spelling[]
}

export interface Spelling {
  text: string
  rows: number
}

/** Shorter words have too many neighbours one edit away, longer ones are no words. */
const SPELLED = /^[a-z][a-z0-9]{2,23}$/
const ENOUGH = 2
/** Listings that must write a word: in a small index one may well be meant, in a large one it is noise. */
const MOST_NEEDED = 5
const LISTINGS_A_STEP = 2000

/** Counts the texts of listings, one listing after the other, and then decides. */
export function createVocabulary(analysis: TextAnalysis) {
  const { words, terms } = analysis
  const [wordRows, pairRows] = [createCounts(), createCounts()]
  let listing = 0
  return {
    countListing(texts: Iterable<string>): void {
      listing += 1
      for (const text of texts) {
        for (const step of analysis.stepsOf(text)) {
          const number = numberIn(step)
          if (kindOf(step) === WORD_STEP) {
            wordRows.count(number, listing)
          } else if (kindOf(step) === PAIR_STEP) pairRows.count(number, listing)
        }
      }
    },
    decide(): Vocabulary {
      const pairTerms = createNumberList()
      analysis.pairs.forEach((left, right, pair) => {
        if (pairRows.of(pair) >= ENOUGH) pairTerms.set(pair, terms.addPair(left, right) + 1)
      })
      const needed = Math.min(MOST_NEEDED, 1 + Math.floor(listing / LISTINGS_A_STEP))
      const spellings = Array.from({ length: wordRows.length() }, (_, word) => ({
        text: words.textOf(word),
        rows: wordRows.of(word),
      }))
      return {
        termOfPair: (pair) => pairTerms.get(pair) - 1,
        spellings: withSingulars(
          spellings.filter(({ text, rows }) => rows >= needed && SPELLED.test(text)),
        ),
      }
    },
  }
}

/** Who asks for an `invoice` is understood where listings write `invoices` only. */
function withSingulars(spellings: readonly Spelling[]): Spelling[] {
  const written = new Set(spellings.map(({ text }) => text))
  const singulars = spellings.flatMap(({ text, rows }) => {
    const singular = text.slice(0, -1)
    const isPlural = text.endsWith('s') && stemWord(singular) === stemWord(text)
    return isPlural && SPELLED.test(singular) && !written.has(singular)
      ? [{ text: singular, rows }]
      : []
  })
  return [...spellings, ...singulars]
}

/** In how many listings each number came, if the listings come one after the other. */
function createCounts() {
  const counts: NumberList = createNumberList()
  /** The listing each was counted for last; they are counted from 1. */
  const last: NumberList = createNumberList()
  return {
    count(number: number, listing: number): void {
      if (last.get(number) === listing) return
      last.set(number, listing)
      counts.set(number, counts.get(number) + 1)
    },
    of: counts.get,
    length: counts.length,
  }
}
