import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search-rank.ts'
import type { TermIndex } from './term-index.ts'

/** A place in the postings of one term, which lie as `Postings` says. */
export interface PostingCursor {
  bytes: Uint8Array
  /** Where the palette number of the posting at `row` starts. */
  at: number
  /** The row of the next posting; `NO_ROW` behind the last one. */
  row: number
  /** Postings that are left, with the one at `row`. */
  left: number
  /** The bit of the thing asked for that this term stands for; 0 for none. */
  bit: number
  palette: Float32Array
  /** Weight × idf of the term in name, labels and summary. */
  name: number
  labels: number
  summary: number
  /** What each of the first `known` palette numbers scores. */
  scores: Float64Array
  known: number
}

export const NO_ROW = 0x7fffffff

/** Palette numbers are given by use: so many make up nearly all postings of a term. */
const SHORT_TABLE = 128
const LONG_TABLE = 1024
/** From so many rows on the long table pays. */
const LONG_RUN = 2048
const NO_PALETTE = new Float32Array(0)
/** Palette number 0, then bytes that are read and mean nothing. */
const ONE_POSTING = Uint8Array.of(0, 0, 0)

/** A table for each cursor of a search, kept for the next search. */
const tables: Float64Array[] = []

/**
 * @param number of a term of `index`
 * @param bit of the thing asked for that it stands for
 * @param slot a number of its own for each cursor of a search, from 0
 */
export function openPostings(
  index: TermIndex,
  number: number,
  bit: number,
  slot: number,
): PostingCursor {
  const { postingStarts, postingBytes: bytes, palette, scoredRows } = index
  let at = postingStarts[number] ?? 0
  const next = (): number => {
    let value = 0
    for (let shift = 0; ; shift += 7) {
      const byte = bytes[at] ?? 0
      at += 1
      value |= (byte & 0x7f) << shift
      if (byte < 0x80) return value
    }
  }
  const left = next()
  const name = FIELD_WEIGHTS.name * inverseDocumentFrequency(scoredRows, next())
  const labels = FIELD_WEIGHTS.labels * inverseDocumentFrequency(scoredRows, next())
  const summary = FIELD_WEIGHTS.summary * inverseDocumentFrequency(scoredRows, next())
  const row = left > 0 ? next() : NO_ROW
  const scores = takeTable(slot)
  const known = Math.min(left < LONG_RUN ? SHORT_TABLE : LONG_TABLE, palette.length / 3)
  const cursor = { bytes, at, row, left, bit, palette, name, labels, summary, scores, known }
  for (let code = 0; code < known; code += 1) scores[code] = weighCode(cursor, code)
  return cursor
}

/** A term that one row holds, with this score. */
export function openSingle(row: number, score: number, slot: number): PostingCursor {
  const scores = takeTable(slot)
  scores[0] = score
  return {
    bytes: ONE_POSTING,
    at: 0,
    row,
    left: 1,
    bit: 0,
    palette: NO_PALETTE,
    name: 0,
    labels: 0,
    summary: 0,
    scores,
    known: 1,
  }
}

function takeTable(slot: number): Float64Array {
  const table = tables[slot] ?? new Float64Array(LONG_TABLE)
  tables[slot] = table
  return table
}

/** The text score of a palette number. */
export function weighCode(cursor: PostingCursor, code: number): number {
  const { palette, name, labels, summary } = cursor
  const place = code * 3
  return (
    name * (palette[place] ?? 0) +
    labels * (palette[place + 1] ?? 0) +
    summary * (palette[place + 2] ?? 0)
  )
}
