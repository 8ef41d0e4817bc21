import { type PostingCursor, readBlock } from './posting-cursor.ts'
import { MATCHED, MATCHES_AT, MAX_TOGETHER, WORK } from './search-work.ts'

/**
 * Adds a term's postings in a block to the scores of its rows.
 *
 * @param start the block's first row
 * @param matched how many rows of the block have a score already
 * @returns how many have one now
 */
export function addToBlock(cursor: PostingCursor, start: number, matched: number): number {
  const { numbers, places, readPlaces, readScores } = WORK
  const mark = MATCHED | cursor.bit
  const count = readBlock(cursor, start)
  let next = MATCHES_AT + matched
  for (let at = 0; at < count; at += 1) {
    const place = readPlaces[at] ?? 0
    numbers[place] = (numbers[place] ?? 0) + (readScores[at] ?? 0)
    // Without a branch, which the processor could not foresee: the place of a row that has a score
    // already is written over by the next one.
    const before = places[place] ?? 0
    places[place] = before | mark
    places[next] = place
    next = (next + 1 - (before >>> MAX_TOGETHER)) | 0
  }
  return next - MATCHES_AT
}
