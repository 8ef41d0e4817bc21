import type { Postings } from './postings-builder.ts'
import { buildSoundTable, type SoundTable } from './sound-table.ts'
import { buildSurfaceTable, type SurfaceTable } from './surface-table.ts'
import { buildTermDictionary, type TermDictionary } from './term-dictionary.ts'

const MAX_MEANT_ROWS = 5
const ROWS_A_STEP = 2000

/** The searchable words of a set of rows; `Postings` says what the bytes hold. */
export interface TermIndex {
  dictionary: TermDictionary
  sounds: SoundTable
  surfaces: SurfaceTable
  /** Where the postings of each term start in `postingBytes`. */
  postingStarts: Uint32Array
  postingBytes: Uint8Array
  palette: Float32Array
  scoredRows: number
}

export function toTermIndex(
  postings: Postings,
  surfaces: ReadonlyMap<string, string> = new Map(),
): TermIndex {
  const { terms, starts, bytes, palette, counts, scoredRows } = postings
  return {
    dictionary: buildTermDictionary(terms),
    sounds: buildSoundTable(terms, (term) => counts[term] ?? 0, meantRows(scoredRows)),
    surfaces: buildSurfaceTable(terms, surfaces),
    postingStarts: starts,
    postingBytes: bytes,
    palette,
    scoredRows,
  }
}

/** In a small index a word of one listing may well be meant; in a large one it is noise. */
function meantRows(rows: number): number {
  return Math.min(MAX_MEANT_ROWS, 1 + Math.floor(rows / ROWS_A_STEP))
}

/** How many rows hold the term of a number: the first varint of its postings. */
export function rowsOf({ postingStarts, postingBytes }: TermIndex, number: number): number {
  let at = postingStarts[number] ?? 0
  let rows = 0
  for (let shift = 0; ; shift += 7) {
    const byte = postingBytes[at] ?? 0
    rows |= (byte & 0x7f) << shift
    if (byte < 0x80) return rows
    at += 1
  }
}
