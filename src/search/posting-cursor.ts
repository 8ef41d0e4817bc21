import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search-rank.ts'
import { TABLE_CODES, TABLES_AT, WORK } from './search-work.ts'
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
  /** Where in `WORK.numbers` the scores of the first palette numbers lie. */
  table: number
}

export const NO_ROW = 0x7fffffff

const ONE_POSTING = Uint8Array.of(0, 0)
const NO_PALETTE = new Float32Array(0)

/**
 * @param number of a term of `index`
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
  const table = TABLES_AT + slot * TABLE_CODES
  const cursor = { bytes, at, row, left, bit, palette, name, labels, summary, table }
  const { numbers } = WORK
  const codes = Math.min(TABLE_CODES, palette.length / 3)
  for (let code = 0; code < codes; code += 1) numbers[table + code] = weighCode(cursor, code)
  return cursor
}

/** A term that one row holds, with this score. */
export function openSingle(row: number, score: number, slot: number): PostingCursor {
  const table = TABLES_AT + slot * TABLE_CODES
  WORK.numbers[table] = score
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
    table,
  }
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

/** Reads what is left, one posting at a time; `addToBlock` does the same in bulk. */
export function* readPostings(cursor: PostingCursor): Generator<{ row: number; score: number }> {
  const { bytes } = cursor
  while (cursor.left > 0) {
    let code = 0
    for (let shift = 0, more = true; more; shift += 7) {
      const byte = bytes[cursor.at++] ?? 0
      code |= (byte & 0x7f) << shift
      more = byte > 0x7f
    }
    yield { row: cursor.row, score: weighCode(cursor, code) }
    cursor.left -= 1
    if (cursor.left === 0) return
    for (let shift = 0, more = true; more; shift += 7) {
      const byte = bytes[cursor.at++] ?? 0
      cursor.row += (byte & 0x7f) << shift
      more = byte > 0x7f
    }
  }
}
