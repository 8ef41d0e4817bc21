import { MAX_NEAR_CHARACTERS, nearWords } from './near-words.ts'
import { findTerm, type TermDictionary } from './term-dictionary.ts'

/** Shorter words have too many neighbours one edit away. */
const MIN_CHARACTERS = 4
const WORTH_CORRECTING = /^[a-z][a-z0-9]+$/

/**
 * The most frequent term one edit away (a letter more, less, other, or two swapped), or null.
 * @param frequency rows that hold a term, by its number
 * @param atLeast how many rows must hold a term to be taken for what was meant
 */
export function correctWord(
  dictionary: TermDictionary,
  word: string,
  frequency: (term: number) => number,
  atLeast: number,
): string | null {
  if (word.length < MIN_CHARACTERS || word.length > MAX_NEAR_CHARACTERS) return null
  if (!WORTH_CORRECTING.test(word)) return null
  let best: string | null = null
  let bestWeight = 0
  for (const near of nearWords(dictionary.words, word)) {
    const term = findTerm(dictionary, near)
    const rows = term < 0 ? 0 : frequency(term)
    if (rows < atLeast) continue
    // A wrong first letter is the rarest slip: such a neighbour must be far more frequent.
    const weight = near[0] === word[0] ? rows : rows / 8
    if (weight <= bestWeight) continue
    best = near
    bestWeight = weight
  }
  return best
}
