import type { KnownTerm, SearchIndex } from '../index/index-shape.ts'
import { findWord, type WordTable, wordAt, wordsWithPrefix } from '../index/word-table.ts'
import { completions, lookUpWord } from './known-term.ts'
import { rememberWords } from './remember.ts'

/** Longest word whose neighbours are searched. */
const MAX_NEAR_CHARACTERS = 24
/** Shorter words have too many neighbours one edit away. */
const MIN_CHARACTERS = 4
const PLAIN = /^[a-z][a-z0-9]+$/
/** Spellings of one sound, which typos confuse. */
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
 * The word one edit away, with the same first letter, in the most listings. An everyday word is not
 * a typo, and no word is a typo of a stop word.
 */
export const repairWord = rememberWords((index, word): KnownTerm | null => {
  if (index.words.isEveryday(word)) return null
  const [nearest] = spellingsNear(index, word)
  return nearest === undefined ? null : lookUpWord(index, nearest)
})

/** Words of listings that are closest to one that none has, for a note. */
export function closestWords(index: SearchIndex, word: string): string[] {
  const near = spellingsNear(index, word)
  if (near.length > 0) return near.slice(0, MAX_CLOSEST)
  const least = Math.max(MIN_SHARED, Math.ceil(word.length * SHARED_PART))
  for (let shared = word.length - 1; shared >= least; shared -= 1) {
    const found = completions(index, word.slice(0, shared), MAX_CLOSEST)
    const words = found.map(({ written }) => written).filter((text) => !index.words.stop.has(text))
    if (words.length > 0) return words
  }
  return []
}

/** The written words one edit or sound away, with the same first letter: those of most listings first. */
function spellingsNear({ spellings, words }: SearchIndex, word: string): string[] {
  const { length } = word
  if (length < MIN_CHARACTERS || length > MAX_NEAR_CHARACTERS || !PLAIN.test(word)) return []
  const rows = (text: string) => spellings.rows[findWord(spellings.words, text)] ?? 0
  return [...new Set([...nearWords(spellings.words, word), ...soundAlikes(word)])]
    .filter((text) => text[0] === word[0] && rows(text) > 0 && !words.stop.has(text))
    .sort((a, b) => rows(b) - rows(a))
}

/** The word with one sound spelt otherwise: `playwrite`, `playwright`. */
function soundAlikes(word: string): string[] {
  return SOUNDS.flatMap(([a, b]) => [
    ...(word.includes(a) ? [word.replace(a, b)] : []),
    ...(word.includes(b) ? [word.replace(b, a)] : []),
  ])
}

/** The words with the same first letter that are one edit away. */
function nearWords(table: WordTable, word: string): string[] {
  const { starts } = table
  const [first, end] = wordsWithPrefix(table, word.slice(0, 1))
  const found: string[] = []
  for (let number = first; number < end; number += 1) {
    const length = (starts[number + 1] ?? 0) - (starts[number] ?? 0)
    if (Math.abs(length - word.length) <= 1 && isOneEditAway(table, number, word))
      found.push(wordAt(table, number))
  }
  return found
}

/**
 * One edit, or two letters swapped. @param number of a word at most one letter longer or shorter
 */
function isOneEditAway({ bytes, starts }: WordTable, number: number, word: string): boolean {
  const start = starts[number] ?? 0
  const length = (starts[number + 1] ?? 0) - start
  const same = (at: number, other: number) => bytes[start + at] === word.charCodeAt(other)
  let at = 0
  while (at < length && same(at, at)) at += 1
  let [rest, otherRest] = [length, word.length]
  while (rest > at && otherRest > at && same(rest - 1, otherRest - 1)) {
    rest -= 1
    otherRest -= 1
  }
  if (rest - at <= 1 && otherRest - at <= 1) return rest !== at || otherRest !== at
  return rest - at === 2 && otherRest - at === 2 && same(at, at + 1) && same(at + 1, at)
}
