import { soundKey } from './sound-key.ts'
import { hashText, type TermDictionary, termAt } from './term-dictionary.ts'

/**
 * The most frequent term of each sound, as one typed array: open addressing by the hash of the
 * sound, a slot holds a term's number plus one. Sounds aren't stored; a hit's own is compared.
 */
export type SoundTable = Uint32Array

const SOUNDING = /^[a-z]{5,24}$/

/**
 * @param rowsOf how many rows hold the term of a number
 * @param minRows rarer terms stay out: they are more often slips themselves than what was meant
 */
export function buildSoundTable(
  terms: readonly string[],
  rowsOf: (term: number) => number,
  minRows: number,
): SoundTable {
  const best = new Map<string, number>()
  terms.forEach((term, at) => {
    if (rowsOf(at) < minRows || !SOUNDING.test(term)) return
    const key = soundKey(term)
    const other = best.get(key)
    if (other === undefined || rowsOf(at) > rowsOf(other)) best.set(key, at)
  })
  const size = 2 ** Math.ceil(Math.log2(Math.max(best.size * 2, 2)))
  const table = new Uint32Array(size)
  for (const [key, at] of best) {
    let slot = hashText(key) & (size - 1)
    while (table[slot] !== 0) slot = (slot + 1) & (size - 1)
    table[slot] = at + 1
  }
  return table
}

/** The number of the most frequent term that sounds like a word, or -1. */
export function findBySound(table: SoundTable, dictionary: TermDictionary, word: string): number {
  if (!SOUNDING.test(word)) return -1
  const key = soundKey(word)
  const mask = table.length - 1
  let slot = hashText(key) & mask
  for (;;) {
    const term = (table[slot] ?? 0) - 1
    if (term < 0 || soundKey(termAt(dictionary, term)) === key) return term
    slot = (slot + 1) & mask
  }
}
