import { appendToSum, hashOfSum, powersOfBase } from './hash-text.ts'
import { mayHaveWord, type WordTable } from './word-table.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const LETTER_UNITS = Int32Array.from(LETTERS, (letter) => letter.charCodeAt(0))

/** Longest word whose neighbours are tried. */
export const MAX_NEAR_CHARACTERS = 24
const POWERS = powersOfBase(MAX_NEAR_CHARACTERS + 1)
/** Sums of the word's first and last characters, for the call at work. */
const heads = new Int32Array(MAX_NEAR_CHARACTERS + 1)
const tails = new Int32Array(MAX_NEAR_CHARACTERS + 1)

/**
 * The words one edit away (a letter less, other, swapped or more) that there may be, by their
 * hash. Some 74 for each character are tried: the hash of each is put together from the sums of
 * what it shares with the word, and its text is made only if something lies under that hash.
 * @param word of lower-case letters and digits, at most `MAX_NEAR_CHARACTERS`
 */
export function nearWords(words: WordTable, word: string): string[] {
  const found: string[] = []
  sumParts(word)
  for (let at = 0; at < word.length; at += 1) {
    const without = hashOfSum(joinSums(heads[at] ?? 0, word.length, at + 1))
    if (mayHaveWord(words, without)) found.push(word.slice(0, at) + word.slice(at + 1))
    addWithLetters(found, words, word, at, at + 1)
    if (at + 1 < word.length) addSwapped(found, words, word, at)
  }
  for (let at = 0; at <= word.length; at += 1) addWithLetters(found, words, word, at, at)
  return found
}

function sumParts(word: string): void {
  const { length } = word
  heads[0] = 0
  for (let at = 0; at < length; at += 1) {
    heads[at + 1] = appendToSum(heads[at] ?? 0, word.charCodeAt(at))
  }
  tails[length] = 0
  for (let at = length - 1; at >= 0; at -= 1) {
    const shifted = Math.imul(word.charCodeAt(at), POWERS[length - 1 - at] ?? 0)
    tails[at] = (shifted + (tails[at + 1] ?? 0)) | 0
  }
}

/** The sum of some text followed by the word's characters from `rest` on. */
function joinSums(head: number, length: number, rest: number): number {
  return (Math.imul(head, POWERS[length - rest] ?? 0) + (tails[rest] ?? 0)) | 0
}

/** Every letter between the first `at` characters and those from `rest` on. */
function addWithLetters(
  found: string[],
  words: WordTable,
  word: string,
  at: number,
  rest: number,
): void {
  const power = POWERS[word.length - rest] ?? 0
  const around = joinSums(appendToSum(heads[at] ?? 0, 0), word.length, rest)
  for (let letter = 0; letter < LETTER_UNITS.length; letter += 1) {
    const sum = (around + Math.imul(LETTER_UNITS[letter] ?? 0, power)) | 0
    if (!mayHaveWord(words, hashOfSum(sum))) continue
    const near = word.slice(0, at) + LETTERS[letter] + word.slice(rest)
    if (near !== word) found.push(near)
  }
}

function addSwapped(found: string[], words: WordTable, word: string, at: number): void {
  const right = appendToSum(heads[at] ?? 0, word.charCodeAt(at + 1))
  const sum = joinSums(appendToSum(right, word.charCodeAt(at)), word.length, at + 2)
  if (word[at] === word[at + 1] || !mayHaveWord(words, hashOfSum(sum))) return
  found.push(word.slice(0, at) + word[at + 1] + word[at] + word.slice(at + 2))
}
