import { RELEVANCE_STEPS } from '../../domain/search/search-rank.ts'
import type { SearchSort } from '../../domain/wire/vocabulary.ts'
import type { IndexPart, SearchIndex } from '../index/index-shape.ts'
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
import { type ExactRows, exactRows } from './exact-rows.ts'
import { scoreRows } from './explain-rows.ts'
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

/** Scores a part's rows for a plan and takes the first ones. */
export function rankRows(index: SearchIndex, part: IndexPart, request: RankRequest): RankedRows {
  const { plan, sort, most, bits } = request
  if (sort !== 'relevance')
    return takeSorted(part, { ...collectMatches(index, part, plan), bits, sort, most })
  const first = exactRows(index, part, request)
  const ranking = createRanking(part, bits, most + first.rows.length)
  rankCursors(ranking, openPlan(index, part, plan.terms))
  const best = takeBest(ranking)
  return first.rows.length === 0
    ? { total: ranking.total, rows: best }
    : withExactFirst(index, part, { plan, most, first, best, total: ranking.total })
}

function withExactFirst(
  index: SearchIndex,
  part: IndexPart,
  {
    plan,
    most,
    first,
    best,
    total,
  }: {
    plan: QueryPlan
    most: number
    first: ExactRows
    best: readonly RankedRow[]
    total: number
  },
): RankedRows {
  const scores = scoreRows(index, part, plan.terms, first.rows)
  const exact = first.rows.map((row) => ({
    row,
    relevance: toRelevance(part, row, scores.get(row)?.total ?? 0),
  }))
  exact.sort((a, b) => first.order(a.row, b.row) || b.relevance - a.relevance || a.row - b.row)
  const unmatched = first.rows.filter((row) => (scores.get(row)?.terms.length ?? 0) === 0)
  const others = best.filter(({ row }) => first.kindOf(row) === null)
  return { total: total + unmatched.length, rows: [...exact, ...others].slice(0, most) }
}

export function toRelevance({ standings }: IndexPart, row: number, score: number): number {
  const multiplier = multiplierOf(standings[row] ?? NO_TRUST)
  return Math.round(score * multiplier * RELEVANCE_STEPS) / RELEVANCE_STEPS
}

/**
 * A row's rank as one number, so that a typed array can hold and sort it: the score in steps, then
 * the row number backwards, since a lower row wins a tie. Exact below 2^53, that is for scores to
 * 8,000 with a million rows; the best match of 32 words scores some hundreds.
 */
export function rowSpan({ rows }: IndexPart): number {
  return 2 ** Math.ceil(Math.log2(Math.max(rows, 2)))
}

/** Every row that holds a term, ascending, with its key. */
export function collectMatches(index: SearchIndex, part: IndexPart, plan: QueryPlan) {
  const span = rowSpan(part)
  const rows: number[] = []
  const keys: number[] = []
  eachBlock(openPlan(index, part, plan.terms), (start, candidates) => {
    for (let at = 0; at < candidates; at += 1) {
      const row = start + (CANDIDATES.places[at] ?? 0)
      const ranked = Math.round(
        (CANDIDATES.scores[at] ?? 0) *
          multiplierOf(part.standings[row] ?? NO_TRUST) *
          RELEVANCE_STEPS,
      )
      rows.push(row)
      keys.push(ranked * span + (span - 1 - row))
    }
  })
  const toRow = (key: number) => ({
    row: span - 1 - (key % span),
    relevance: Math.floor(key / span) / RELEVANCE_STEPS,
  })
  return { rows, keys, toRow }
}

function createRanking(part: IndexPart, bits: Uint32Array | null, most: number): Ranking {
  return {
    part,
    bits,
    best: createTopKeys(Math.min(most, part.rows)),
    span: rowSpan(part),
    total: 0,
    hopeless: Number.NEGATIVE_INFINITY,
    threshold: Number.NEGATIVE_INFINITY,
  }
}

/** Calls back for every block that has rows with a score; their candidates are all of them. */
function eachBlock(
  cursors: readonly PostingCursor[],
  take: (start: number, candidates: number) => void,
): void {
  for (;;) {
    const first = cursors.reduce((least, { row }) => Math.min(least, row), NO_ROW)
    if (first === NO_ROW) return
    const start = first - (first % BLOCK_ROWS)
    take(start, takeBlock(addBlock(cursors, start), Number.NEGATIVE_INFINITY))
  }
}

function addBlock(cursors: readonly PostingCursor[], start: number): number {
  let matched = 0
  for (const cursor of cursors) {
    if (cursor.row - start < BLOCK_ROWS) matched = addToBlock(cursor, start, matched)
  }
  return matched
}

function rankCursors(ranking: Ranking, cursors: readonly PostingCursor[]): void {
  const { bits } = ranking
  for (;;) {
    let only: PostingCursor | undefined
    let first = NO_ROW
    let second = NO_ROW
    for (const cursor of cursors) {
      const { row } = cursor
      if (row < first) {
        second = first
        first = row
        only = cursor
      } else if (row < second) second = row
    }
    if (only === undefined) return
    const start = first - (first % BLOCK_ROWS)
    if (second >= start + BLOCK_ROWS && bits === null) {
      const { rows, candidates } = takePostings(only, start, ranking.hopeless)
      ranking.total += rows
      offerCandidates(ranking, start, candidates)
    } else {
      const matched = addBlock(cursors, start)
      ranking.total += bits === null ? matched : countPassing(bits, start, matched)
      offerCandidates(ranking, start, takeBlock(matched, ranking.hopeless))
    }
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
  const ranked = Math.round(score * multiplierOf(part.standings[row] ?? NO_TRUST) * RELEVANCE_STEPS)
  const key = ranked * span + (span - 1 - row)
  if (key <= ranking.threshold) return
  const threshold = ranking.best.offer(key)
  if (threshold === ranking.threshold) return
  ranking.threshold = threshold
  // With a step of slack for the rounding.
  ranking.hopeless = (threshold / span - 2) / RELEVANCE_STEPS / part.highestMultiplier
}

function takeBest({ best, span }: Ranking): RankedRow[] {
  return Array.from(best.take(0), (key) => ({
    row: span - 1 - (key % span),
    relevance: Math.floor(key / span) / RELEVANCE_STEPS,
  }))
}
