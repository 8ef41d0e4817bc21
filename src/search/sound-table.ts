import { buildHashTable, findNumber, type HashTable } from './hash-table.ts'
import { hashText } from './hash-text.ts'
import type { SortedTerms } from './sorted-terms.ts'
import { soundKey } from './sound-key.ts'
import { type TermDictionary, termAt } from './term-dictionary.ts'

/**
 * The most frequent term of each sound, by the hash of the sound. Sounds aren't stored; a hit's
 * own is compared.
 */
export type SoundTable = HashTable

const SOUNDING = /^[a-z]{5,24}$/
const SLOTS_PER_SOUND = 1.25

/**
 * @param rowsOf how many rows hold the term of a number
 * @param minRows rarer terms stay out: they are more often slips themselves than what was meant
 */
export function buildSoundTable(
  { words, firsts }: SortedTerms,
  rowsOf: (term: number) => number,
  minRows: number,
): SoundTable {
  const best = new Map<string, number>()
  const firstWord = firsts.length
  words.forEach((word, at) => {
    const term = firstWord + at
    if (rowsOf(term) < minRows || !SOUNDING.test(word)) return
    const key = soundKey(word)
    const other = best.get(key)
    if (other === undefined || rowsOf(term) > rowsOf(other)) best.set(key, term)
  })
  const soundOf = (term: number) => soundKey(words[term - firstWord] ?? '')
  return buildHashTable([...best.values()], (term) => hashText(soundOf(term)), {
    limit: firstWord + words.length,
    slotsPerNumber: SLOTS_PER_SOUND,
  })
}

/** The number of the most frequent term that sounds like a word, or -1. */
export function findBySound(table: SoundTable, dictionary: TermDictionary, word: string): number {
  if (!SOUNDING.test(word)) return -1
  const key = soundKey(word)
  return findNumber(table, hashText(key), (term) => soundKey(termAt(dictionary, term)) === key)
}
