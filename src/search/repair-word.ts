import { correctWord } from './correct-word.ts'
import { findBySound } from './sound-table.ts'
import { termAt } from './term-dictionary.ts'
import { rowsOf, type TermIndex } from './term-index.ts'

/** A word in this many listings or fewer may be a slip that somebody else made too. */
export const RARE_ROWS = 2
/** What a rare but known word is taken for must be this frequent, and the word this long. */
const FREQUENT_ROWS = 20
const LONG_ENOUGH = 6

/**
 * The term that was probably meant by an unknown or very rare one: one edit away, else the same
 * sound. A known word keeps its first letter and is never given up, only joined by the other.
 * @param rows how many rows hold `term` itself
 */
export function repairWord(part: TermIndex, term: string, rows: number): string | null {
  if (rows > RARE_ROWS || (rows > 0 && term.length < LONG_ENOUGH)) return null
  const atLeast = rows === 0 ? 1 : FREQUENT_ROWS
  const frequency = (number: number) => rowsOf(part, number)
  const right =
    correctWord(part.dictionary, term, frequency, atLeast) ?? soundsLike(part, term, atLeast)
  return rows > 0 && right?.[0] !== term[0] ? null : right
}

function soundsLike(part: TermIndex, term: string, atLeast: number): string | null {
  const number = findBySound(part.sounds, part.dictionary, term)
  if (number < 0 || rowsOf(part, number) < atLeast) return null
  const found = termAt(part.dictionary, number)
  return found === term ? null : found
}
