import { NO_ROW, type PostingCursor, weighCode } from './posting-cursor.ts'
import { BLOCK_ROWS, MATCHED, MATCHES_AT, MAX_TOGETHER, TABLE_CODES, WORK } from './search-work.ts'

/**
 * Adds a term's postings up to the row `start + BLOCK_ROWS` to the scores of the block. For each a
 * palette number and the distance to the next row, mostly a byte each, read in place because a call
 * for each would cost more than the reading. (`| 0` tells the compiler that nothing overflows.)
 *
 * @param start the block's first row
 * @param matched how many rows of the block have a score already
 * @returns how many have one now
 */
export function addToBlock(cursor: PostingCursor, start: number, matched: number): number {
  const { numbers, places } = WORK
  const { bytes, table } = cursor
  const end = start + BLOCK_ROWS
  const mark = MATCHED | cursor.bit
  let { at, row, left } = cursor
  let next = MATCHES_AT + matched
  while (left > 0 && row < end) {
    let code = bytes[at] ?? 0
    at = (at + 1) | 0
    if (code >= TABLE_CODES) {
      code = (code & 0x7f) | ((bytes[at] ?? 0) << 7)
      at = (at + 1) | 0
      if (code > 0x3fff) {
        code = (code & 0x3fff) | ((bytes[at] ?? 0) << 14)
        at = (at + 1) | 0
      }
    }
    const place = (row - start) | 0
    const score = code < TABLE_CODES ? (numbers[table + code] ?? 0) : weighCode(cursor, code)
    numbers[place] = (numbers[place] ?? 0) + score
    // Without a branch, which the processor could not foresee: the place of a row that has a score
    // already is written over by the next one.
    const before = places[place] ?? 0
    places[place] = before | mark
    places[next] = place
    next = (next + 1 - (before >>> MAX_TOGETHER)) | 0
    left = (left - 1) | 0
    let distance = bytes[at] ?? 0
    at = (at + 1) | 0
    if (distance > 0x7f) {
      distance = (distance & 0x7f) | ((bytes[at] ?? 0) << 7)
      at = (at + 1) | 0
      if (distance > 0x3fff) {
        distance = (distance & 0x3fff) | ((bytes[at] ?? 0) << 14)
        at = (at + 1) | 0
      }
    }
    row = (row + distance) | 0
  }
  cursor.at = at
  cursor.row = left === 0 ? NO_ROW : row
  cursor.left = left
  return next - MATCHES_AT
}
