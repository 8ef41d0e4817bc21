import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search-rank.ts'
import { BLOCK_ROWS, TABLE_CODES, TABLES_AT, WORK } from './search-work.ts'
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

/** What one and two bytes of a varint hold. */
const LOW_BITS = 0x7f
const TWO_BYTES = 0x3fff
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

/**
 * Reads a term's postings up to the row `start + BLOCK_ROWS` into `WORK.readPlaces` and
 * `WORK.readScores`: the innermost loop of the engine. Each posting is a palette number and the
 * distance to the next row, varints of a byte each, mostly, and of three at most. (`| 0` tells the
 * compiler that nothing overflows.)
 *
 * @param start the block's first row
 * @returns how many were read
 */
// biome-ignore lint/complexity/noExcessiveCognitiveComplexity: a call for each number costs more than reading it
export function readBlock(cursor: PostingCursor, start: number): number {
  const { numbers, readPlaces, readScores } = WORK
  const { bytes, table } = cursor
  const end = Math.min(start + BLOCK_ROWS, NO_ROW)
  let { at, row, left } = cursor
  let count = 0
  while (left > 0 && row < end) {
    let code = bytes[at] ?? 0
    at = (at + 1) | 0
    if (code > LOW_BITS) {
      code = (code & LOW_BITS) | ((bytes[at] ?? 0) << 7)
      at = (at + 1) | 0
      if (code > TWO_BYTES) {
        code = (code & TWO_BYTES) | ((bytes[at] ?? 0) << 14)
        at = (at + 1) | 0
      }
    }
    readPlaces[count] = row - start
    readScores[count] = code < TABLE_CODES ? (numbers[table + code] ?? 0) : weighCode(cursor, code)
    count = (count + 1) | 0
    left = (left - 1) | 0
    let distance = bytes[at] ?? 0
    at = (at + 1) | 0
    if (distance > LOW_BITS) {
      distance = (distance & LOW_BITS) | ((bytes[at] ?? 0) << 7)
      at = (at + 1) | 0
      if (distance > TWO_BYTES) {
        distance = (distance & TWO_BYTES) | ((bytes[at] ?? 0) << 14)
        at = (at + 1) | 0
      }
    }
    row = (row + distance) | 0
  }
  cursor.at = at
  cursor.row = left === 0 ? NO_ROW : row
  cursor.left = left
  return count
}
