import { findPostings, type PostingPlaces } from './posting-places.ts'
import { buildSoundTable, type SoundTable } from './sound-table.ts'
import { buildSurfaceTable, type SurfaceTable } from './surface-table.ts'
import { buildTermDictionary, type TermDictionary } from './term-dictionary.ts'
import type { Postings } from './write-postings.ts'

const MAX_MEANT_ROWS = 5
const ROWS_A_STEP = 2000

/** The searchable words of a set of rows; `Postings` says what the bytes hold. */
export interface TermIndex {
  dictionary: TermDictionary
  sounds: SoundTable
  surfaces: SurfaceTable
  postings: PostingPlaces
  palette: Float32Array
  scoredRows: number
}

export function toTermIndex(
  postings: Postings,
  surfaces: ReadonlyMap<string, string> = new Map(),
): TermIndex {
  const { terms, places, palette, counts, scoredRows } = postings
  return {
    dictionary: buildTermDictionary(terms),
    sounds: buildSoundTable(terms, (term) => counts[term] ?? 0, meantRows(scoredRows)),
    surfaces: buildSurfaceTable(terms, surfaces),
    postings: places,
    palette,
    scoredRows,
  }
}

/** Rows that must hold a word: in a small index one may well be meant, in a large one it is noise. */
export function meantRows(rows: number): number {
  return Math.min(MAX_MEANT_ROWS, 1 + Math.floor(rows / ROWS_A_STEP))
}

/** How many rows hold the term of a number. */
export function rowsOf({ postings }: TermIndex, number: number): number {
  return findPostings(postings, number).rows
}
