import { RELEVANCE_STEPS } from '../domain/search/search-rank.ts'
import { CANDIDATES, countPassing, takeBlock, takePostings } from './block-scores.ts'
import { valueAt } from './coded-column.ts'
import { passes } from './filter-rows.ts'
import type { IndexPart } from './index-part.ts'
import type { PostingCursor } from './posting-cursor.ts'
import type { RankedPage, RankedRow } from './ranked-page.ts'
import { multiplierOf, NO_TRUST } from './standing.ts'
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

/** Offers the rows of a block that got a score. */
export function offerBlock(ranking: RowRanking, start: number, matched: number): void {
  const { bits } = ranking
  ranking.total += bits === null ? matched : countPassing(bits, start, matched)
  settle(ranking, start, takeBlock(matched, ranking.hopeless))
}

/** As `addToBlock` and `offerBlock` in one, for a block that has rows of one term only. */
export function offerPostings(ranking: RowRanking, cursor: PostingCursor, start: number): void {
  const { rows, candidates } = takePostings(cursor, start, ranking.hopeless)
  ranking.total += rows
  settle(ranking, start, candidates)
}

/** Offers candidates that hold one thing; those that hold several have to wait. */
function settle(ranking: RowRanking, start: number, candidates: number): void {
  const { places, held, scores } = CANDIDATES
  const { waiting, bits } = ranking
  growWaiting(waiting, candidates)
  const { rows, held: waitingHeld, scores: waitingScores } = waiting
  let { length } = waiting
  let { hopeless } = ranking
  for (let at = 0; at < candidates; at += 1) {
    const things = held[at] ?? 0
    const score = scores[at] ?? 0
    if ((things & (things - 1)) !== 0) {
      rows[length] = start + (places[at] ?? 0)
      waitingHeld[length] = things
      waitingScores[length] = score
      length += 1
    } else if (score >= hopeless) {
      const row = start + (places[at] ?? 0)
      if (bits !== null && !passes(bits, row)) continue
      offer(ranking, row, score)
      hopeless = ranking.hopeless
    }
  }
  waiting.length = length
}

function offer(ranking: RowRanking, row: number, score: number): void {
  const { part, span } = ranking
  const ranked = Math.round(score * multiplierOf(part.standings[row] ?? NO_TRUST) * RELEVANCE_STEPS)
  const key = ranked * span + (span - 1 - row)
  if (key <= ranking.threshold) return
  const threshold = ranking.best.offer(key)
  if (threshold === ranking.threshold) return
  ranking.threshold = threshold
  // With a step of slack for the rounding.
  ranking.hopeless = (threshold / span - 2) / RELEVANCE_STEPS / part.highestMultiplier
}

/**
 * How many rows hold exactly each combination of two things asked for and more.
 * @param combinations all there are of the things of the query
 */
export function countTogether({ waiting }: RowRanking, combinations: number): Uint32Array {
  const { held, length } = waiting
  const counts = new Uint32Array(combinations)
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
    offer(ranking, row, score + worth * valueAt(nameSaturations, row))
  }
}

/** The rows from the `offset`-th on. */
export function takePage({ best, span, total }: RowRanking, offset: number): RankedPage {
  const rows: RankedRow[] = []
  const keys = best.take(offset)
  for (let at = 0; at < keys.length; at += 1) {
    const key = keys[at] ?? 0
    rows.push({ row: span - 1 - (key % span), relevance: Math.floor(key / span) / RELEVANCE_STEPS })
  }
  return { total, rows }
}
