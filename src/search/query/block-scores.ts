/**
 * The innermost loops of the engine. Rows are scored block by block, all terms of a block before
 * the next one, so that what is written at random stays in the processor's nearest memory whatever
 * the number of listings. Searches are synchronous, so one block serves them all.
 *
 * The arrays are constants of this file because the compiler then knows where they lie: taken from
 * an object or another module, each access costs several checks more. `| 0` tells it that a number
 * stays whole. Where the processor could not foresee a branch there is none: what turns out not to
 * count is written over by the next one.
 */
import { NO_ROW, type PostingCursor } from './posting-cursor.ts'

export const BLOCK_ROWS = 1024

/** The score of each row of the block; 0 between blocks, and above it for a row with a term. */
const scores = new Float64Array(BLOCK_ROWS)
/** Places with a score in the order they got one. */
const matches = new Uint16Array(BLOCK_ROWS + 1)
/** What was read last of one term: places and scores. */
const readPlaces = new Uint16Array(BLOCK_ROWS)
const readScores = new Float64Array(BLOCK_ROWS)
const candidatePlaces = new Uint16Array(BLOCK_ROWS + 1)
const candidateScores = new Float64Array(BLOCK_ROWS + 1)

/** The rows of a block that may get on the page, in columns. */
export const CANDIDATES = {
  /** Row numbers, from the block's first row. */
  places: candidatePlaces,
  scores: candidateScores,
} as const

/**
 * Reads a term's postings in a block. Each is a palette number, a byte or two, and the distance to
 * the next row, a varint of a byte or two; a longer one leaves the block, so that what is left of
 * it can be read after the loop.
 * @returns how many were read
 */
function readBlock(cursor: PostingCursor, start: number): number {
  const { bytes, palette, weight } = cursor
  const end = start + BLOCK_ROWS
  let { at, row, left } = cursor
  let count = 0
  let distance = 0
  while (left > 0 && row < end) {
    let code = bytes[at] ?? 0
    at = (at + 1) | 0
    if (code > 0x7f) {
      code = (code & 0x7f) | ((bytes[at] ?? 0) << 7)
      at = (at + 1) | 0
    }
    readPlaces[count] = row - start
    readScores[count] = weight * (palette[code] ?? 0)
    count = (count + 1) | 0
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
  return count
}

/**
 * Adds a term's postings in a block to the scores of its rows.
 * @param start the block's first row
 * @param matched how many rows of the block have a score already
 * @returns how many have one now
 */
export function addToBlock(cursor: PostingCursor, start: number, matched: number): number {
  const count = readBlock(cursor, start)
  let next = matched
  for (let at = 0; at < count; at = (at + 1) | 0) {
    const place = readPlaces[at] ?? 0
    const before = scores[place] ?? 0
    scores[place] = before + (readScores[at] ?? 0)
    matches[next] = place
    next = (next + (before === 0 ? 1 : 0)) | 0
  }
  return next
}

/** @returns how many of a block's rows with a score pass a filter */
export function countPassing(bits: Uint32Array, start: number, matched: number): number {
  let count = 0
  for (let at = 0; at < matched; at = (at + 1) | 0) {
    const row = start + (matches[at] ?? 0)
    count = (count + (((bits[row >>> 5] ?? 0) >>> (row & 31)) & 1)) | 0
  }
  return count
}

/**
 * Makes candidates of the rows that score enough, and sets the block back to 0.
 * @returns how many there are
 */
export function takeBlock(matched: number, hopeless: number): number {
  let count = 0
  for (let at = 0; at < matched; at = (at + 1) | 0) {
    const place = matches[at] ?? 0
    const score = scores[place] ?? 0
    scores[place] = 0
    candidatePlaces[count] = place
    candidateScores[count] = score
    count = (count + (score >= hopeless ? 1 : 0)) | 0
  }
  return count
}

/**
 * As `addToBlock` and `takeBlock` in one, for a search of one term.
 * @returns how many candidates there are
 */
export function takePostings(cursor: PostingCursor, start: number, hopeless: number): number {
  const count = readBlock(cursor, start)
  let candidates = 0
  for (let at = 0; at < count; at = (at + 1) | 0) {
    const score = readScores[at] ?? 0
    candidatePlaces[candidates] = readPlaces[at] ?? 0
    candidateScores[candidates] = score
    candidates = (candidates + (score >= hopeless ? 1 : 0)) | 0
  }
  return candidates
}
