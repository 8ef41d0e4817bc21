import { RELEVANCE_STEPS } from '../../domain/search/search-rank.ts'
import type { SearchSort } from '../../domain/wire/vocabulary.ts'
import { bitWords, type IndexPart, type SearchIndex } from '../index/index-shape.ts'
import { multiplierOf, NO_TRUST } from '../index/standing.ts'
import { createTopKeys, type TopKeys } from '../numbers/top-keys.ts'
import {
  addToBlock,
  BLOCK_ROWS,
  CANDIDATES,
  countPassing,
  takeBlock,
  takePostings,
} from './block-scores.ts'
import { exactRows } from './exact-rows.ts'
import { passes } from './filter-rows.ts'
import type { QueryPlan } from './plan-query.ts'
import { NO_ROW, openPlan, type PostingCursor } from './posting-cursor.ts'
import { type RankedRow, type RankedRows, takeSorted } from './sort-rows.ts'

export interface RankRequest {
  text: string
  plan: QueryPlan
  /** Rows that pass the filters; null for all. */
  bits: Uint32Array | null
  sort: SearchSort
  /** How many rows are wanted. */
  most: number
}

/** The best rows of a search so far. */
interface Ranking {
  part: IndexPart
  bits: Uint32Array | null
  best: TopKeys
  span: number
  total: number
  /** A row that scores less, in all, cannot get on the page any more. */
  hopeless: number
  /** The least key on the page, once that is full. */
  threshold: number
}

/** Scores a part's rows for a plan and takes the first ones: of each kind of exact rows, then of all others. */
export function rankRows(index: SearchIndex, part: IndexPart, request: RankRequest): RankedRows {
  const { text, plan, sort, most, bits } = request
  if (sort !== 'relevance')
    return takeSorted(part, { ...collectMatches(index, part, plan), bits, sort, most })
  const rank = (among: Uint32Array | null, wanted: number) =>
    rankAmong(part, openPlan(index, part, plan.terms), among, wanted)
  const exact = exactRows(index, part, { text, bits })
  if (exact.length === 0) return rank(bits, most)
  const others = bits?.slice() ?? new Uint32Array(bitWords(part.rows)).fill(0xffffffff)
  const found = exact.map(({ rows }) => withUnmatched(rank(takeOut(others, rows), most), rows))
  found.push(rank(others, most))
  return {
    total: found.reduce((sum, { total }) => sum + total, 0),
    rows: found.flatMap(({ rows }) => rows).slice(0, most),
  }
}

/** Moves rows from one bit set to one of their own. */
function takeOut(bits: Uint32Array, rows: readonly number[]): Uint32Array {
  const taken = new Uint32Array(bits.length)
  for (const row of rows) {
    taken[row >>> 5] = (taken[row >>> 5] ?? 0) | (1 << (row & 31))
    bits[row >>> 5] = (bits[row >>> 5] ?? 0) & ~(1 << (row & 31))
  }
  return taken
}

/** An id or a host is no text: a row may be asked for by it and hold no term. */
function withUnmatched({ rows, total }: RankedRows, all: readonly number[]): RankedRows {
  if (total === all.length) return { rows, total }
  const matched = new Set(rows.map(({ row }) => row))
  const others = all.filter((row) => !matched.has(row)).map((row) => ({ row, relevance: 0 }))
  return { rows: [...rows, ...others], total: all.length }
}

/**
 * A row's rank as one number, so that a typed array can hold and sort it: the score in steps, then
 * the row number backwards, since a lower row wins a tie. Exact below 2^53, that is for scores to
 * 8,000 with a million rows; the best match of 32 words scores some hundreds.
 */
function toKey({ standings }: IndexPart, span: number, row: number, score: number): number {
  const multiplier = multiplierOf(standings[row] ?? NO_TRUST)
  return Math.round(score * multiplier * RELEVANCE_STEPS) * span + (span - 1 - row)
}

function spanOf({ rows }: IndexPart): number {
  return 2 ** Math.ceil(Math.log2(Math.max(rows, 2)))
}

function toRow(span: number, key: number): RankedRow {
  return { row: span - 1 - (key % span), relevance: Math.floor(key / span) / RELEVANCE_STEPS }
}

/** Every row that holds a term, ascending, with its key. */
export function collectMatches(index: SearchIndex, part: IndexPart, plan: QueryPlan) {
  const span = spanOf(part)
  const rows: number[] = []
  const keys: number[] = []
  eachBlock(openPlan(index, part, plan.terms), (start, matched) => {
    const candidates = takeBlock(matched, Number.NEGATIVE_INFINITY)
    for (let at = 0; at < candidates; at += 1) {
      const row = start + (CANDIDATES.places[at] ?? 0)
      rows.push(row)
      keys.push(toKey(part, span, row, CANDIDATES.scores[at] ?? 0))
    }
  })
  return { rows, keys, toRow: (key: number) => toRow(span, key) }
}

/** Calls back for every block that has rows with a score, with how many. */
function eachBlock(
  cursors: readonly PostingCursor[],
  visit: (start: number, matched: number) => void,
): void {
  for (;;) {
    let first = NO_ROW
    for (const { row } of cursors) if (row < first) first = row
    if (first === NO_ROW) return
    const start = first - (first % BLOCK_ROWS)
    let matched = 0
    for (const cursor of cursors)
      if (cursor.row - start < BLOCK_ROWS) matched = addToBlock(cursor, start, matched)
    visit(start, matched)
  }
}

/** The best rows of a bit set, and how many of it match; of all rows for null. */
function rankAmong(
  part: IndexPart,
  cursors: readonly PostingCursor[],
  bits: Uint32Array | null,
  most: number,
): RankedRows {
  const ranking: Ranking = {
    part,
    bits,
    best: createTopKeys(Math.min(most, part.rows)),
    span: spanOf(part),
    total: 0,
    hopeless: Number.NEGATIVE_INFINITY,
    threshold: Number.NEGATIVE_INFINITY,
  }
  const [first, second] = cursors
  if (first !== undefined && second === undefined && bits === null) rankPostings(ranking, first)
  else
    eachBlock(cursors, (start, matched) => {
      ranking.total += bits === null ? matched : countPassing(bits, start, matched)
      offerCandidates(ranking, start, takeBlock(matched, ranking.hopeless))
    })
  const rows = Array.from(ranking.best.take(), (key) => toRow(ranking.span, key))
  return { total: ranking.total, rows }
}

/** Rows of one term have no scores to be added up. */
function rankPostings(ranking: Ranking, cursor: PostingCursor): void {
  ranking.total = cursor.left
  while (cursor.row !== NO_ROW) {
    const start = cursor.row - (cursor.row % BLOCK_ROWS)
    offerCandidates(ranking, start, takePostings(cursor, start, ranking.hopeless))
  }
}

function offerCandidates(ranking: Ranking, start: number, candidates: number): void {
  const { places, scores } = CANDIDATES
  const { bits } = ranking
  let { hopeless } = ranking
  for (let at = 0; at < candidates; at += 1) {
    const score = scores[at] ?? 0
    if (score < hopeless) continue
    const row = start + (places[at] ?? 0)
    if (bits !== null && !passes(bits, row)) continue
    offer(ranking, row, score)
    hopeless = ranking.hopeless
  }
}

function offer(ranking: Ranking, row: number, score: number): void {
  const { part, span } = ranking
  const key = toKey(part, span, row, score)
  if (key <= ranking.threshold) return
  const threshold = ranking.best.offer(key)
  if (threshold === ranking.threshold) return
  ranking.threshold = threshold
  // With a step of slack for the rounding.
  ranking.hopeless = (threshold / span - 2) / RELEVANCE_STEPS / part.highestMultiplier
}
