import { findTermBytes, type TermDictionary, termAt } from './term-dictionary.ts'

/** Shorter words have too many neighbours one edit away; longer ones cost too much to try. */
const MIN_CHARACTERS = 4
const MAX_CHARACTERS = 24
const LETTERS = new TextEncoder().encode('abcdefghijklmnopqrstuvwxyz0123456789')
const WORTH_CORRECTING = /^[a-z][a-z0-9]+$/

const original = new Uint8Array(MAX_CHARACTERS)
const variant = new Uint8Array(MAX_CHARACTERS + 1)

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
  if (word.length < MIN_CHARACTERS || word.length > MAX_CHARACTERS) return null
  if (!WORTH_CORRECTING.test(word)) return null
  let best = -1
  let bestWeight = 0
  for (const length of variants(word)) {
    const term = findTermBytes(dictionary, variant, length)
    if (term < 0 || frequency(term) < atLeast) continue
    // A wrong first letter is the rarest slip: such a neighbour must be far more frequent.
    const weight = variant[0] === original[0] ? frequency(term) : frequency(term) / 8
    if (weight <= bestWeight) continue
    best = term
    bestWeight = weight
  }
  return best < 0 ? null : termAt(dictionary, best)
}

/** Writes each word one edit away into `variant` and yields its length. */
function* variants(word: string): Generator<number> {
  const length = word.length
  for (let i = 0; i < length; i += 1) original[i] = word.charCodeAt(i)
  for (let at = 0; at < length; at += 1) {
    copyWithout(at, length)
    yield length - 1
    copyWithGap(at, length)
    variant.copyWithin(at, at + 1, length + 1)
    for (const letter of LETTERS) {
      if (letter === original[at]) continue
      variant[at] = letter
      yield length
    }
    if (at + 1 < length && original[at] !== original[at + 1]) {
      variant[at] = original[at + 1] ?? 0
      variant[at + 1] = original[at] ?? 0
      yield length
    }
  }
  for (let at = 0; at <= length; at += 1) {
    copyWithGap(at, length)
    for (const letter of LETTERS) {
      variant[at] = letter
      yield length + 1
    }
  }
}

function copyWithout(at: number, length: number): void {
  for (let i = 0, to = 0; i < length; i += 1) {
    if (i === at) continue
    variant[to] = original[i] ?? 0
    to += 1
  }
}

function copyWithGap(at: number, length: number): void {
  for (let i = 0; i < length; i += 1) variant[i < at ? i : i + 1] = original[i] ?? 0
}
