import type { SearchIndex } from '../index/index-shape.ts'
import { findWord, mayHaveWord, type WordTable } from '../index/word-table.ts'
import { appendToSum, hashOfSum, powersOfBase } from '../numbers/hash-text.ts'
import { completions, type KnownTerm, lookUpWord } from './known-term.ts'

const LETTERS = 'abcdefghijklmnopqrstuvwxyz0123456789'
const LETTER_UNITS = Int32Array.from(LETTERS, (letter) => letter.charCodeAt(0))

/** Longest word whose neighbours are tried. */
const MAX_NEAR_CHARACTERS = 24
const POWERS = powersOfBase(MAX_NEAR_CHARACTERS + 1)
/** Sums of the word's first and last characters, for the call at work. */
const heads = new Int32Array(MAX_NEAR_CHARACTERS + 1)
const tails = new Int32Array(MAX_NEAR_CHARACTERS + 1)

/** Shorter words have too many neighbours one edit away. */
const MIN_CHARACTERS = 4
/** Of so few letters, only a letter that is missing is a slip: `slak`, but not `uber`. */
const SHORT = 4
const PLAIN = /^[a-z][a-z0-9]+$/
/** Spellings of one sound, of which a slip takes one for the other. */
const SOUNDS = [
  ['ite', 'ight'],
  ['f', 'ph'],
  ['k', 'ck'],
  ['c', 'k'],
  ['x', 'ks'],
  ['ie', 'ei'],
  ['oo', 'u'],
] as const
const MAX_CLOSEST = 3
/** A close word shares this much of its start. */
const MIN_SHARED = 3
const SHARED_PART = 2 / 3

/**
 * The word that was probably meant by one that no listing has: one edit away as it is written (a
 * letter more, less, other, or two swapped), with the same first letter, in the most listings. An
 * everyday word is no slip, and nothing is a slip of a stop word.
 */
export function repairWord(index: SearchIndex, word: string): KnownTerm | null {
  if (index.words.isEveryday(word)) return null
  const near = spellingsNear(index, word)
  const allowed = word.length <= SHORT ? near.filter(({ length }) => length > SHORT) : near
  const best = allowed.find((text) => text[0] === word[0])
  return best === undefined ? null : lookUpWord(index, best)
}

/** Words of listings that are closest to one that none has, for a note. */
export function closestWords(index: SearchIndex, word: string): string[] {
  const near = spellingsNear(index, word).filter((text) => text[0] === word[0])
  if (near.length > 0) return near.slice(0, MAX_CLOSEST)
  const least = Math.max(MIN_SHARED, Math.ceil(word.length * SHARED_PART))
  for (let shared = word.length - 1; shared >= least; shared -= 1) {
    const found = completions(index, word.slice(0, shared), MAX_CLOSEST)
    const words = found.map(({ written }) => written).filter((text) => !index.words.stop.has(text))
    if (words.length > 0) return words
  }
  return []
}

/** The written words one edit away, those of most listings first. */
function spellingsNear({ spellings, words }: SearchIndex, word: string): string[] {
  const { length } = word
  if (length < MIN_CHARACTERS || length > MAX_NEAR_CHARACTERS || !PLAIN.test(word)) return []
  const rows = (text: string) => spellings.rows[findWord(spellings.words, text)] ?? 0
  return [...new Set([...nearWords(spellings.words, word), ...soundAlikes(word)])]
    .filter((text) => rows(text) > 0 && !words.stop.has(text))
    .sort((a, b) => rows(b) - rows(a))
}

/** The word with one sound spelt otherwise: `playwrite`, `playwright`. */
function soundAlikes(word: string): string[] {
  return SOUNDS.flatMap(([a, b]) => [
    ...(word.includes(a) ? [word.replace(a, b)] : []),
    ...(word.includes(b) ? [word.replace(b, a)] : []),
  ])
}

/**
 * The words one edit away (a letter less, other, swapped or more) that there may be, by their
 * hash. Some 74 for each character are tried: the hash of each is put together from the sums of
 * what it shares with the word, and its text is made only if something lies under that hash.
 * @param word of lower-case letters and digits, at most `MAX_NEAR_CHARACTERS`
 */
function nearWords(words: WordTable, word: string): string[] {
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
