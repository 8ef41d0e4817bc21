import { FIELD_WEIGHTS, inverseDocumentFrequency } from '../domain/search/search-rank.ts'
import { scoreAnywhere, TOKENS } from './anywhere-scores.ts'
import { addToBlock, BLOCK_ROWS, MAX_TOGETHER } from './block-scores.ts'
import { type CodedColumn, valueAt } from './coded-column.ts'
import { findId } from './find-id.ts'
import { MIN_TOGETHER_ROWS, type TogetherWeights, weighTogether } from './held-together.ts'
import type { KnownTerm } from './known-term.ts'
import type { PartName, SearchIndex } from './loaded-index.ts'
import type { QueryPlan } from './plan-query.ts'
import { NO_ROW, openPostings, openSingle, type PostingCursor } from './posting-cursor.ts'
import type { RankedPage } from './ranked-page.ts'
import {
  createRanking,
  offerBlock,
  offerPostings,
  offerWaiting,
  type RowRanking,
  takePage,
} from './row-ranking.ts'
import { findTerm } from './term-dictionary.ts'
import type { TermIndex } from './term-index.ts'

export interface RankRequest {
  plan: QueryPlan
  /** Rows that pass the filters; null for all. */
  bits: Uint32Array | null
  offset: number
  limit: number
  /** The organic rows' weights, for our own rows; the organic ones make theirs. */
  together?: TogetherWeights
}

/** Scores a part's rows for a plan and takes the page asked for. */
export function rankRows(
  index: SearchIndex,
  name: PartName,
  { plan, bits, offset, limit, together }: RankRequest,
): { page: RankedPage; together: TogetherWeights } {
  const part = index[name]
  const ranking = createRanking(part, bits, offset + limit)
  const cursors = openPlan(part, plan, part.nameSaturations)
  openIds(index, name, plan.ids, cursors)
  rankCursors(ranking, cursors)
  const weights = together ?? weighTogether(part, plan.things.length, ranking)
  offerWaiting(ranking, weights.ofHeld)
  return { page: takePage(ranking, offset), together: weights }
}

/**
 * The postings of every term of a plan that the index knows. From `MIN_TOGETHER_ROWS` organic rows
 * on, where several things are asked for, holding a word anywhere counts, and so does holding a
 * related one, which counts for nothing else.
 * @param names saturations of the rows' names; without them neither counts
 */
export function openPlan(
  index: TermIndex,
  { part, things, others }: QueryPlan,
  names: CodedColumn | null = null,
): PostingCursor[] {
  const { scoredRows } = index
  const together = scoredRows >= MIN_TOGETHER_ROWS && things.length > 1 ? names : null
  const cursors: PostingCursor[] = []
  const open = (term: KnownTerm, bit: number, role: keyof typeof TOKENS | 'beside') => {
    const number = index === part ? term.number : findTerm(index.dictionary, term.text)
    if (number < 0) return
    const slot = cursors.length
    const cursor = openPostings(index, number, bit, slot, role !== 'related')
    if (together !== null && role !== 'beside') {
      const of = { rows: term.rows, scoredRows, tokens: TOKENS[role], slot }
      cursor.anywhere = scoreAnywhere(together, of)
    }
    cursors.push(cursor)
  }
  things.forEach(({ words, related }, at) => {
    const bit = at < MAX_TOGETHER ? 1 << at : 0
    for (const term of words) open(term, bit, 'asked')
    if (together !== null) for (const term of related) open(term, bit, 'related')
  })
  for (const term of others) open(term, 0, 'beside')
  return cursors
}

/** A listing's id is a term in its name that it alone holds. */
function openIds(
  index: SearchIndex,
  name: PartName,
  ids: readonly string[],
  cursors: PostingCursor[],
): void {
  if (ids.length === 0) return
  const { nameSaturations, scoredRows } = index[name]
  const weight = FIELD_WEIGHTS.name * inverseDocumentFrequency(scoredRows, 1)
  for (const id of new Set(ids)) {
    const row = findId(index, name, id)
    if (row < 0) continue
    cursors.push(openSingle(row, weight * valueAt(nameSaturations, row), cursors.length))
  }
}

function rankCursors(ranking: RowRanking, cursors: readonly PostingCursor[]): void {
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
    if (second >= start + BLOCK_ROWS && ranking.bits === null) offerPostings(ranking, only, start)
    else rankBlock(ranking, cursors, start)
  }
}

function rankBlock(ranking: RowRanking, cursors: readonly PostingCursor[], start: number): void {
  let matched = 0
  for (const cursor of cursors) {
    if (cursor.row - start < BLOCK_ROWS) matched = addToBlock(cursor, start, matched)
  }
  offerBlock(ranking, start, matched)
}
