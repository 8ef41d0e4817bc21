/**
 * The innermost loops of the engine. Rows are scored block by block, all terms of a block before
 * the next one, so that what is written at random stays in the processor's nearest memory whatever
 * the number of listings. Searches are synchronous, so one block serves them all.
 *
 * The arrays are constants of this file because the compiler then knows where they lie: taken from
 * an object or another module, each access costs several checks more. `| 0` tells it that a number
 * stays whole. No branch is left that the processor could not foresee: a row that turns out not to count is
 * written over by the next one.
 */
import { NO_ROW, type PostingCursor } from './posting-cursor.ts'

const BLOCK_ROWS = 1024

/** The score of each row of the block; 0 between blocks, and above it for a row with a term. */
const scores = new Float64Array(BLOCK_ROWS)
/** Places with a score in the order they got one. */
const matches = new Uint16Array(BLOCK_ROWS + 1)
const candidatePlaces = new Uint16Array(BLOCK_ROWS + 1)
const candidateScores = new Float64Array(BLOCK_ROWS + 1)

/** A block that was scored. */
export const BLOCK = {
  /** Its first row. */
  start: 0,
  /** Rows with a term that pass the filters. */
  passing: 0,
  /** Those of them that score enough: their places from the first row, and their scores. */
  candidates: 0,
  places: candidatePlaces,
  scores: candidateScores,
}

/**
 * Scores the next block that has rows with a term.
 * @param bits rows that pass the filters; null for all
 * @param hopeless what a candidate scores at least
 * @returns whether there was one
 */
export function scoreBlock(
  cursors: readonly PostingCursor[],
  bits: Uint32Array | null,
  hopeless: number,
): boolean {
  let first = NO_ROW
  for (const { row } of cursors) if (row < first) first = row
  if (first === NO_ROW) return false
  const start = first - (first % BLOCK_ROWS)
  let matched = 0
  for (const cursor of cursors)
    if (cursor.row - start < BLOCK_ROWS) matched = addToBlock(cursor, start, matched)
  BLOCK.start = start
  takeBlock(matched, bits, hopeless)
  return true
}

/**
 * Adds a term's postings in a block to the scores of its rows. Each is a palette number, a byte or
 * two, and the distance to the next row, a varint of a byte or two; a longer one leaves the block,
 * so that what is left of it can be read after the loop.
 * @returns how many rows have a score now
 */
function addToBlock(cursor: PostingCursor, start: number, matched: number): number {
  const { bytes, palette, weight } = cursor
  const end = start + BLOCK_ROWS
  let { at, row, left } = cursor
  let next = matched
  let distance = 0
  while (left > 0 && row < end) {
    let code = bytes[at] ?? 0
    at = (at + 1) | 0
    if (code > 0x7f) {
      code = (code & 0x7f) | ((bytes[at] ?? 0) << 7)
      at = (at + 1) | 0
    }
    const place = row - start
    const before = scores[place] ?? 0
    scores[place] = before + weight * (palette[code] ?? 0)
    matches[next] = place
    next = (next + (before === 0 ? 1 : 0)) | 0
    left = (left - 1) | 0
    distance = bytes[at] ?? 0
    at = (at + 1) | 0
    if (distance > 0x7f) {
      distance = (distance & 0x7f) | ((bytes[at] ?? 0) << 7)
      at = (at + 1) | 0
    }
    row = (row + distance) | 0
  }
  if (distance > 0x3fff && left > 0) {
    row = row - (1 << 14) + ((bytes[at] ?? 0) << 14)
    at += 1
  }
  cursor.at = at
  cursor.row = left === 0 ? NO_ROW : row
  cursor.left = left
  return next
}

/** Makes candidates of the rows that pass and score enough, and sets the block back to 0. */
function takeBlock(matched: number, bits: Uint32Array | null, hopeless: number): void {
  const { start } = BLOCK
  let passing = 0
  let count = 0
  for (let at = 0; at < matched; at = (at + 1) | 0) {
    const place = matches[at] ?? 0
    const score = scores[place] ?? 0
    scores[place] = 0
    candidatePlaces[count] = place
    candidateScores[count] = score
    const row = start + place
    const passes = bits === null ? 1 : ((bits[row >>> 5] ?? 0) >>> (row & 31)) & 1
    passing = (passing + passes) | 0
    count = (count + (score >= hopeless ? passes : 0)) | 0
  }
  BLOCK.passing = passing
  BLOCK.candidates = count
}
