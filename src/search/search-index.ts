import type { SearchQuery } from '../domain/search/search-query.ts'
import { RELEVANCE_STEPS } from '../domain/search/search-rank.ts'
import { countRows, filterRows, passes } from './filter-rows.ts'
import type { IndexPart } from './index-part.ts'
import type { SearchIndex } from './loaded-index.ts'
import { planQuery, type QueryPlan } from './plan-query.ts'
import { rankRows } from './rank-rows.ts'
import type { RankedPage, RankedRow } from './ranked-page.ts'
import { multiplierOf, NO_TRUST } from './standing.ts'

export interface SearchOutcome {
  organic: RankedPage
  firstParty: RankedPage
  notes: readonly string[]
}

const NOTHING_FOUND = 'No listing has a word of the query.'
/** Our own kits are few; more than a page of them would be no showcase. */
const FIRST_PARTY_PAGE = { limit: 50, offset: 0 }

/**
 * Searches the organic rows and, apart from them, our own. The score is the specified BM25 times
 * the trust and Live-Tested multipliers, applied before the page is cut; `total` is exact.
 */
export function searchIndex(index: SearchIndex, query: SearchQuery): SearchOutcome {
  return query.q === undefined ? browse(index, query) : searchText(index, query, query.q)
}

function searchText(index: SearchIndex, query: SearchQuery, text: string): SearchOutcome {
  const plan = planQuery(index.organic, text, index.organic.rows)
  const { limit, offset } = query
  const bits = filterRows(index.organic, query, index.filterPlaces)
  const { page, together } = rankRows(index, 'organic', { plan, bits, limit, offset })
  const own = rankRows(index, 'firstParty', {
    plan,
    bits: filterRows(index.firstParty, query, index.filterPlaces),
    ...FIRST_PARTY_PAGE,
    together,
  })
  return { organic: page, firstParty: own.page, notes: notesOf(plan, page) }
}

function notesOf({ notes, things }: QueryPlan, { total }: RankedPage): readonly string[] {
  return notes.length === 0 && things.length === 0 && total === 0 ? [NOTHING_FOUND] : notes
}

/** Without words: the order of the contract, `relevance` is the multiplier alone. */
function browse(index: SearchIndex, query: SearchQuery): SearchOutcome {
  const { limit, offset } = query
  const page = (part: IndexPart, asked: { limit: number; offset: number }) =>
    browsePart(part, filterRows(part, query, index.filterPlaces), asked)
  return {
    organic: page(index.organic, { limit, offset }),
    firstParty: page(index.firstParty, FIRST_PARTY_PAGE),
    notes: [],
  }
}

function browsePart(
  part: IndexPart,
  bits: Uint32Array | null,
  { offset, limit }: { offset: number; limit: number },
): RankedPage {
  const total = bits === null ? part.rows : countRows(bits, part.rows)
  const end = Math.min(offset + limit, total)
  const rows: RankedRow[] = []
  // Without a filter the page lies at its offset; with one, rows before it must be walked.
  let passed = bits === null ? offset : 0
  for (let at = passed; at < part.rows && passed < end; at += 1) {
    const row = part.browseOrder[at] ?? 0
    if (bits !== null && !passes(bits, row)) continue
    if (passed >= offset)
      rows.push({ row, relevance: toRelevance(multiplierOf(part.standings[row] ?? NO_TRUST)) })
    passed += 1
  }
  return { total, rows }
}

function toRelevance(score: number): number {
  return Math.round(score * RELEVANCE_STEPS) / RELEVANCE_STEPS
}
