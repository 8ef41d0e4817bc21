import type { SearchQuery } from '../domain/search-query.ts'
import { RELEVANCE_STEPS } from '../domain/search-rank.ts'
import { filterRows, passes } from './filter-rows.ts'
import type { IndexPart } from './index-part.ts'
import type { SearchIndex } from './load-search-index.ts'
import { planQuery } from './plan-query.ts'
import { findTerm } from './term-dictionary.ts'

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

/** Our own kits are few; more than a page of them would be no showcase. */
const MAX_FIRST_PARTY = 50

/**
 * Searches the organic rows and, apart from them, our own. The score is the specified BM25 times
 * the trust and Live-Tested multipliers, applied before the page is cut; `total` is exact.
 */
export function searchIndex(index: SearchIndex, query: SearchQuery): SearchOutcome {
  const plan = query.q === undefined ? null : planQuery(index.organic, query.q)
  const terms = plan?.terms ?? null
  const own = { ...query, limit: MAX_FIRST_PARTY, offset: 0 }
  return {
    organic: searchPart(index, index.organic, query, terms),
    firstParty: searchPart(index, index.firstParty, own, terms),
    notes: plan?.notes ?? [],
  }
}

function searchPart(
  index: SearchIndex,
  part: IndexPart,
  query: SearchQuery,
  terms: readonly string[] | null,
): RankedPage {
  const bits = filterRows(part, query, index.filterPlaces)
  if (terms === null) return browse(part, query, bits)
  for (const term of terms) addScores(part, term)
  return takeBest(part, query, bits)
}

function browse(part: IndexPart, query: SearchQuery, bits: Uint32Array | null): RankedPage {
  const rows: RankedRow[] = []
  let total = 0
  for (const row of part.browseOrder) {
    if (!passes(bits, row)) continue
    if (total >= query.offset && rows.length < query.limit) {
      rows.push({ row, relevance: round(part.multipliers[row] ?? 1) })
    }
    total += 1
  }
  return { total, rows }
}

function addScores(part: IndexPart, term: string): void {
  const number = findTerm(part.dictionary, term)
  if (number < 0) return
  const { scores, postingRows, postingImpacts, postingStarts } = part
  const end = postingStarts[number + 1] ?? 0
  for (let at = postingStarts[number] ?? 0; at < end; at += 1) {
    const row = postingRows[at] ?? 0
    scores[row] = (scores[row] ?? 0) + (postingImpacts[at] ?? 0)
  }
}

function takeBest(part: IndexPart, query: SearchQuery, bits: Uint32Array | null): RankedPage {
  const matches: RankedRow[] = []
  part.scores.forEach((score, row) => {
    if (score === 0 || !passes(bits, row)) return
    matches.push({ row, relevance: round(score * (part.multipliers[row] ?? 1)) })
  })
  part.scores.fill(0)
  matches.sort((a, b) => b.relevance - a.relevance || a.row - b.row)
  const { offset, limit } = query
  return { total: matches.length, rows: matches.slice(offset, offset + limit) }
}

function round(score: number): number {
  return Math.round(score * RELEVANCE_STEPS) / RELEVANCE_STEPS
}
