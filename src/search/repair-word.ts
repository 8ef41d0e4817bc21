import { correctWord } from './correct-word.ts'
import { type KnownTerm, lookUp } from './known-term.ts'
import { findBySound } from './sound-table.ts'
import { termAt } from './term-dictionary.ts'
import { meantRows, rowsOf, type TermIndex } from './term-index.ts'

/** A word in this many listings or fewer may be a slip that somebody else made too. */
export const RARE_ROWS = 2
/** What a rare but known word is taken for must be this frequent, and the word this long. */
const FREQUENT_ROWS = 20
const LONG_ENOUGH = 6

/**
 * The term that was probably meant by an unknown or very rare one: one edit away, else the same
 * sound. A known word is never given up, only joined by the other. It keeps its first letter, and so
 * does a word in a sentence: one that no listing has is rather an everyday word there (`fridge`) than
 * a slip of another (`bridge`) or of a rare name (`Frida`).
 */
export function repairWord(
  part: TermIndex,
  { text, rows }: KnownTerm,
  place: 'look-up' | 'sentence',
): KnownTerm | null {
  if (rows > RARE_ROWS || (rows > 0 && text.length < LONG_ENOUGH)) return null
  const unknownAtLeast = place === 'sentence' ? meantRows(part.scoredRows) : 1
  const atLeast = rows === 0 ? unknownAtLeast : FREQUENT_ROWS
  const frequency = (number: number) => rowsOf(part, number)
  const right =
    correctWord(part.dictionary, text, frequency, atLeast) ?? soundsLike(part, text, atLeast)
  const keepsFirst = rows > 0 || place === 'sentence'
  if (right === null || (keepsFirst && right[0] !== text[0])) return null
  return lookUp(part, right)
}

function soundsLike(part: TermIndex, text: string, atLeast: number): string | null {
  const number = findBySound(part.sounds, part.dictionary, text)
  if (number < 0 || rowsOf(part, number) < atLeast) return null
  const found = termAt(part.dictionary, number)
  return found === text ? null : found
}
