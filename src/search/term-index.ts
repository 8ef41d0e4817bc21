import type { Postings } from './postings-builder.ts'
import { buildSoundTable, type SoundTable } from './sound-table.ts'
import { buildTermDictionary, type TermDictionary } from './term-dictionary.ts'

/** The searchable words of a set of rows. */
export interface TermIndex {
  dictionary: TermDictionary
  sounds: SoundTable
  /** Where the postings of each term start in `postingRows` and `postingImpacts`. */
  postingStarts: Uint32Array
  postingRows: Uint32Array
  postingImpacts: Float32Array
}

export function toTermIndex({ terms, starts, rows, impacts }: Postings): TermIndex {
  return {
    dictionary: buildTermDictionary(terms),
    sounds: buildSoundTable(terms, (term) => (starts[term + 1] ?? 0) - (starts[term] ?? 0)),
    postingStarts: starts,
    postingRows: rows,
    postingImpacts: impacts,
  }
}
