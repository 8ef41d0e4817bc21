import type { SearchQuery } from '../domain/search-query.ts'
import { RELEVANCE_STEPS } from '../domain/search-rank.ts'
import { countRows, filterRows, passes } from './filter-rows.ts'
import { findId } from './find-id.ts'
import type { IndexPart } from './index-part.ts'
import type { PartName, SearchIndex } from './loaded-index.ts'
import { planQuery, type QueryPlan } from './plan-query.ts'
import { clearScores, scoreTerms } from './score-terms.ts'
import { createTopKeys, type TopKeys } from './top-keys.ts'

export interface RankedRow {
  row: number
  relevance: number
}

/** The page of one part that was asked for, and how many rows of it match in all. */
export interface RankedPage {
  total: number
  rows: readonly RankedRow[]
}

export interface SearchOutcome {
  organic: RankedPage
  firstParty: RankedPage
  notes: readonly string[]
}

const NOTHING_FOUND = 'No listing has a word of the query.'
/** Our own kits are few; more than a page of them would be no showcase. */
const MAX_FIRST_PARTY = 50

/**
 * Searches the organic rows and, apart from them, our own. The score is the specified BM25 times
 * the trust and Live-Tested multipliers, applied before the page is cut; `total` is exact.
 */
export function searchIndex(index: SearchIndex, query: SearchQuery): SearchOutcome {
  const plan = query.q === undefined ? null : planQuery(index.organic, query.q, index.organic.rows)
  const own = { ...query, limit: MAX_FIRST_PARTY, offset: 0 }
  const search = (name: PartName, asked: SearchQuery) => {
    const bits = filterRows(index[name], asked, index.filterPlaces)
    return plan === null ? browse(index[name], asked, bits) : rank(index, name, asked, bits, plan)
  }
  const organic = search('organic', query)
  const firstParty = search('firstParty', own)
  const notes = plan?.notes ?? []
  const unfound = plan?.terms.length === 0 && organic.total === 0 && notes.length === 0
  return { organic, firstParty, notes: unfound ? [NOTHING_FOUND] : notes }
}

function browse(
  part: IndexPart,
  { offset, limit }: SearchQuery,
  bits: Uint32Array | null,
): RankedPage {
  const total = bits === null ? part.rows : countRows(bits, part.rows)
  const end = Math.min(offset + limit, total)
  const rows: RankedRow[] = []
  // Without a filter the page lies at its offset; with one, rows before it must be walked.
  let passed = bits === null ? offset : 0
  for (let at = passed; at < part.rows && passed < end; at += 1) {
    const row = part.browseOrder[at] ?? 0
    if (!passes(bits, row)) continue
    if (passed >= offset) rows.push({ row, relevance: toRelevance(part.multipliers[row] ?? 1) })
    passed += 1
  }
  return { total, rows }
}

function toRelevance(score: number): number {
  return Math.round(score * RELEVANCE_STEPS) / RELEVANCE_STEPS
}

/**
 * A row's rank as one number, so that a typed array can hold and sort it: the score in steps, then
 * the row number backwards, since a lower row wins a tie. Exact below 2^53, that is for scores to
 * 8,000 with a million rows; the best match of 32 words scores some hundreds.
 */
function rank(
  index: SearchIndex,
  name: PartName,
  { offset, limit }: SearchQuery,
  bits: Uint32Array | null,
  plan: QueryPlan,
): RankedPage {
  const part = index[name]
  const rowSpan = 2 ** Math.ceil(Math.log2(Math.max(part.rows, 2)))
  const scored = scoreTerms(part, plan.terms, part.scratch)
  const matched = scoreIds(index, name, plan.ids, scored)
  const best = createTopKeys(Math.min(offset + limit, matched))
  const total = offerMatches(part, matched, bits, best, rowSpan)
  clearScores(part.scratch, matched)
  const rows = Array.from(best.take(offset), (key) => ({
    row: rowSpan - 1 - (key % rowSpan),
    relevance: Math.floor(key / rowSpan) / RELEVANCE_STEPS,
  }))
  return { total, rows }
}

/** A listing's id is a term that it alone holds. @returns how many rows match by now */
function scoreIds(
  index: SearchIndex,
  name: PartName,
  ids: readonly string[],
  matched: number,
): number {
  const { scratch, idImpacts } = index[name]
  let count = matched
  for (const id of new Set(ids)) {
    const row = findId(index, name, id)
    if (row < 0) continue
    if (scratch.scores[row] === 0) scratch.matches[count++] = row
    scratch.scores[row] = (scratch.scores[row] ?? 0) + (idImpacts[row] ?? 0)
  }
  return count
}

/** @returns how many matches pass the filter */
function offerMatches(
  { scratch: { scores, matches }, multipliers }: IndexPart,
  matched: number,
  bits: Uint32Array | null,
  best: TopKeys,
  rowSpan: number,
): number {
  let total = 0
  // Most matches of a broad query are far from the page: one comparison settles them, well before
  // the rounding (a step of slack) and the key.
  let hopeless = Number.NEGATIVE_INFINITY
  for (let at = 0; at < matched; at += 1) {
    const row = matches[at] ?? 0
    if (bits !== null && !passes(bits, row)) continue
    total += 1
    const score = (scores[row] ?? 0) * (multipliers[row] ?? 1)
    if (score < hopeless) continue
    const threshold = best.offer(
      Math.round(score * RELEVANCE_STEPS) * rowSpan + (rowSpan - 1 - row),
    )
    hopeless = (threshold / rowSpan - 2) / RELEVANCE_STEPS
  }
  return total
}
