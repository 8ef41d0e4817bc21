import { RELEVANCE_STEPS } from '../domain/search-rank.ts'
import { passes } from './filter-rows.ts'
import type { IndexPart } from './index-part.ts'
import { type PostingCursor, readBlock } from './posting-cursor.ts'
import type { RankedPage, RankedRow } from './ranked-page.ts'
import { MATCHED, MATCHES_AT, MAX_TOGETHER, WORK } from './search-work.ts'
import { createTopKeys, type TopKeys } from './top-keys.ts'
import { growWaiting, takeWaitingRows, type WaitingRows } from './waiting-rows.ts'

/** The best rows of a search so far. */
export interface RowRanking {
  part: IndexPart
  /** Rows that pass the filters; null for all. */
  bits: Uint32Array | null
  best: TopKeys
  /** See `rowSpan`. */
  span: number
  /** Rows that passed. */
  total: number
  /** A row that scores less, in all, cannot get on the page any more. */
  hopeless: number
  /** The least key on the page, once that is full. */
  threshold: number
  /** Rows that hold several things: what that is worth is known at the end. */
  waiting: WaitingRows
}

export function createRanking(part: IndexPart, bits: Uint32Array | null, most: number): RowRanking {
  return {
    part,
    bits,
    best: createTopKeys(Math.min(most, part.rows)),
    span: rowSpan(part),
    total: 0,
    hopeless: Number.NEGATIVE_INFINITY,
    threshold: Number.NEGATIVE_INFINITY,
    waiting: takeWaitingRows(),
  }
}

/**
 * A row's rank as one number, so that a typed array can hold and sort it: the score in steps, then
 * the row number backwards, since a lower row wins a tie. Exact below 2^53, that is for scores to
 * 8,000 with a million rows; the best match of 32 words scores some hundreds.
 */
function rowSpan({ rows }: IndexPart): number {
  return 2 ** Math.ceil(Math.log2(Math.max(rows, 2)))
}

/** Offers the rows of a block that got a score, and sets the block back to 0. */
export function offerBlock(ranking: RowRanking, start: number, matched: number): void {
  const { waiting, bits } = ranking
  const from = waiting.length
  growWaiting(waiting, matched)
  takeCandidates(waiting, start, matched, ranking.hopeless)
  if (bits === null) ranking.total += matched
  else ranking.total += countPassing(bits, start, matched)
  settle(ranking, from)
}

/** As `addToBlock` and `offerBlock` in one, for a block that has rows of one term only. */
export function offerPostings(ranking: RowRanking, cursor: PostingCursor, start: number): void {
  const { readPlaces, readScores } = WORK
  const count = readBlock(cursor, start)
  ranking.total += count
  let { hopeless } = ranking
  for (let at = 0; at < count; at += 1) {
    const score = readScores[at] ?? 0
    if (score < hopeless) continue
    offer(ranking, start + (readPlaces[at] ?? 0), score)
    hopeless = ranking.hopeless
  }
}

/**
 * Puts down the rows that hold several things, or score enough by one. No branch depends on either,
 * since the processor could not foresee it: a row that is no candidate is written over by the next.
 */
function takeCandidates(
  waiting: WaitingRows,
  start: number,
  matched: number,
  hopeless: number,
): void {
  const { numbers, places } = WORK
  const { rows, held: holds, scores } = waiting
  let { length } = waiting
  const end = MATCHES_AT + matched
  for (let at = MATCHES_AT; at < end; at = (at + 1) | 0) {
    const place = places[at] ?? 0
    const score = numbers[place] ?? 0
    const held = (places[place] ?? 0) & (MATCHED - 1)
    numbers[place] = 0
    places[place] = 0
    rows[length] = start + place
    holds[length] = held
    scores[length] = score
    const several = ((held & (held - 1)) + (MATCHED - 1)) >> MAX_TOGETHER
    length = (length + (several | (score >= hopeless ? 1 : 0))) | 0
  }
  waiting.length = length
}

function countPassing(bits: Uint32Array, start: number, matched: number): number {
  const { places } = WORK
  let count = 0
  for (let at = MATCHES_AT; at < MATCHES_AT + matched; at += 1) {
    const row = start + (places[at] ?? 0)
    count += ((bits[row >>> 5] ?? 0) >>> (row & 31)) & 1
  }
  return count
}

/** Offers the new candidates that hold one thing; those that hold several go on waiting. */
function settle(ranking: RowRanking, from: number): void {
  const { waiting, bits } = ranking
  const { rows, held, scores, length } = waiting
  let kept = from
  for (let at = from; at < length; at += 1) {
    const holds = held[at] ?? 0
    const row = rows[at] ?? 0
    const score = scores[at] ?? 0
    if ((holds & (holds - 1)) !== 0) {
      rows[kept] = row
      held[kept] = holds
      scores[kept] = score
      kept += 1
    } else if (score >= ranking.hopeless && (bits === null || passes(bits, row))) {
      offer(ranking, row, score)
    }
  }
  waiting.length = kept
}

function offer(ranking: RowRanking, row: number, score: number): void {
  const { part, span } = ranking
  const ranked = Math.round(score * (part.multipliers[row] ?? 1) * RELEVANCE_STEPS)
  const key = ranked * span + (span - 1 - row)
  if (key <= ranking.threshold) return
  const threshold = ranking.best.offer(key)
  if (threshold === ranking.threshold) return
  ranking.threshold = threshold
  // With a step of slack for the rounding.
  ranking.hopeless = (threshold / span - 2) / RELEVANCE_STEPS / part.highestMultiplier
}

/** How many rows hold exactly each combination of two things asked for and more. */
export function countTogether({ waiting }: RowRanking): Uint32Array {
  const { held, length } = waiting
  const counts = new Uint32Array(MATCHED)
  for (let at = 0; at < length; at += 1) {
    const combination = held[at] ?? 0
    counts[combination] = (counts[combination] ?? 0) + 1
  }
  return counts
}

/** @param ofHeld what holding each combination is worth, times the name's saturation */
export function offerWaiting(ranking: RowRanking, ofHeld: Float64Array): void {
  const { nameSaturations, highestNameSaturation } = ranking.part
  const { waiting, bits } = ranking
  const { rows, held, scores, length } = waiting
  for (let at = 0; at < length; at += 1) {
    const worth = ofHeld[held[at] ?? 0] ?? 0
    const score = scores[at] ?? 0
    if (score + worth * highestNameSaturation < ranking.hopeless) continue
    const row = rows[at] ?? 0
    if (bits !== null && !passes(bits, row)) continue
    offer(ranking, row, score + worth * (nameSaturations[row] ?? 0))
  }
}

/** The rows from the `offset`-th on. */
export function takePage({ best, span, total }: RowRanking, offset: number): RankedPage {
  const rows: RankedRow[] = []
  for (const key of best.take(offset)) {
    rows.push({ row: span - 1 - (key % span), relevance: Math.floor(key / span) / RELEVANCE_STEPS })
  }
  return { total, rows }
}
