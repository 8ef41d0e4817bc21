/**
 * The path of a query. `plan-query.ts` splits the text into words (`words/split-text.ts`), leaves
 * out meaningless ones (`left-out.ts`), analyses each of the others (`query-terms.ts`: known, a
 * typo, a prefix, split) and adds pairs and related words: terms with weights.
 * `listing-database.ts` hands the text to Orama, and Orama to our component: `filter-rows.ts` makes
 * the filters a bit set, `score-rows.ts` adds up the postings of all terms and `rank-rows.ts` keeps
 * the best rows, times trust and Live-Tested; `exact-rows.ts` puts rows first that were named by
 * id, host or name; `sort-places.ts` has the other orders. `count-facets.ts` and `explain-rows.ts`
 * answer the rest of a request.
 */
import { NOTE_PHRASES } from '../../domain/search/note-phrases.ts'
import type { SearchQuery } from '../../domain/search/search-query.ts'
import { RELEVANCE_STEPS } from '../../domain/search/search-rank.ts'
import type { Explanation, Facets } from '../../domain/search/search-response.ts'
import type { RowRange, SearchIndex } from '../index/index-shape.ts'
import type { RangeName } from '../index/postings.ts'
import { multiplierOf, NO_TRUST } from '../index/standing.ts'
import { countFacets } from './count-facets.ts'
import { exactRows } from './exact-rows.ts'
import { explainRows } from './explain-rows.ts'
import {
  bitsFor,
  countRows,
  filterRows,
  intersect,
  passes,
  setBit,
  toRowFilter,
} from './filter-rows.ts'
import {
  createListingDatabase,
  type ListingDatabase,
  type RangeRequest,
} from './listing-database.ts'
import { listOf, planQuery, type QueryPlan } from './plan-query.ts'
import { matchBits, type RankedRows } from './rank-rows.ts'
import { sortPlaces } from './sort-places.ts'
import { type Advice, type Suggestion, suggestCategory, suggestFilters } from './suggest-filters.ts'

export interface SearchOutcome {
  organic: RankedRows
  firstParty: RankedRows
  notes: readonly string[]
  /** Searches to follow; none where there is nothing to suggest. */
  suggested: readonly Suggestion[]
  facets?: Facets
  /** For each organic row, and each of our own. */
  explained?: Record<RangeName, readonly Explanation[]>
}

/** Our own kits are few; more than a page of them would not be a showcase. */
const FIRST_PARTY_PAGE = { limit: 50, offset: 0 }
const NONE: RankedRows = { total: 0, rows: [] }
const NO_PLAN = {
  terms: [],
  notes: [],
  phrases: [],
  excluded: [],
  isMissing: false,
  closest: () => [],
}
const NO_ADVICE: Advice = { suggested: [], notes: [] }

/** Made when the first query comes: a start needn't wait for it. */
const databases = new WeakMap<SearchIndex, ListingDatabase>()

/** Trust and Live-Tested multiply the score before the page is cut; `total` is exact. */
export function searchIndex(index: SearchIndex, query: SearchQuery): SearchOutcome {
  const { q: text, facets, explain: isExplained } = query
  const organic = rankIndex(index, query)
  const { start, end } = index.firstParty
  const firstParty =
    start === end ? NONE : rankIndex(index, { ...query, ...FIRST_PARTY_PAGE }, 'firstParty')
  const plan = text === undefined ? NO_PLAN : listingDatabase(index).plan(text)
  const advice =
    text === undefined ? NO_ADVICE : adviceFor(index, query, { text, plan, rows: organic.rows })
  const explain = (range: RowRange, { rows }: RankedRows) =>
    explainRows(index, range, { text: text ?? '', plan, rows })
  return {
    organic,
    firstParty,
    notes: [
      ...(organic.total > 0 || text === undefined ? plan.notes : notesOnNone(index, text, plan)),
      ...advice.notes,
      ...sortNotes(query, organic.total),
    ],
    suggested: advice.suggested,
    ...(facets !== undefined && {
      facets: countFacets(index, query, text === undefined ? null : matchesOf(index, text, plan)),
    }),
    ...(isExplained === true && {
      explained: {
        organic: explain(index.organic, organic),
        firstParty: explain(index.firstParty, firstParty),
      },
    }),
  }
}

/** Only the rows that answer a query. */
export function rankIndex(
  index: SearchIndex,
  query: SearchQuery,
  range: RangeName = 'organic',
): RankedRows {
  const { q: text, limit, offset, sort = 'relevance' } = query
  const asked = { range, where: toRowFilter(query), sort, limit, offset }
  return text === undefined
    ? browse(index, asked)
    : listingDatabase(index).searchRange({ text, ...asked })
}

/** Orama's database over an index; `searchIndex` searches it. */
export function listingDatabase(index: SearchIndex): ListingDatabase {
  const known = databases.get(index)
  if (known !== undefined) return known
  // Both ranges, the notes and the facets of one search need the plan of the same text.
  let last: { text: string; plan: QueryPlan } | undefined
  const made = createListingDatabase(index, (text) => {
    if (last?.text !== text) last = { text, plan: planWithTopics(index, text) }
    return last.plan
  })
  databases.set(index, made)
  return made
}

/** A network that no match takes payment on is the query's topic, and stays in it. */
function planWithTopics(index: SearchIndex, text: string): QueryPlan {
  const plan = planQuery(index, text)
  const networks = plan.phrases.filter(({ parameter }) => parameter === 'network')
  if (networks.length === 0) return plan
  const matched = matchBits(index, plan)
  const topics = networks.filter(({ parameter, value }) => {
    const bits = bitsFor(index, index.filterPlaces.get(`${parameter}:${value}`))
    return countRows(intersect(bits.slice(), matched), index.organic) === 0
  })
  const written = topics.map((phrase) => phrase.written)
  return written.length === 0 ? plan : planQuery(index, text, written)
}

/** Filters that words of the query suggest, and where to look for what no listing has. */
function adviceFor(
  index: SearchIndex,
  query: SearchQuery,
  { text, plan, rows }: { text: string; plan: QueryPlan; rows: RankedRows['rows'] },
): Advice {
  const { phrases, isMissing } = plan
  const isNear = isMissing && query.category === undefined && query.offset === 0
  const nearest = isNear ? suggestCategory(index, rows) : NO_ADVICE
  if (phrases.length === 0) return nearest
  const matched = matchesOf(index, text, plan)
  const filters = suggestFilters(index, query, { phrases, matched })
  return {
    suggested: [...filters.suggested, ...nearest.suggested],
    notes: [...filters.notes, ...nearest.notes],
  }
}

/** The answer to a query is sorted in two parts, see `rankRows`. */
function sortNotes({ q, sort = 'relevance' }: SearchQuery, total: number): string[] {
  if (q === undefined || sort === 'relevance' || total === 0) return []
  return [
    `Sorted by ${sort}: first what is at least half as relevant as the best match, then the others.`,
  ]
}

/** All that match the words, whatever the filters. */
function matchesOf(index: SearchIndex, text: string, plan: QueryPlan): Uint32Array {
  const bits = matchBits(index, plan)
  for (const { rows } of exactRows(index, index.organic, { text, bits: null }))
    for (const row of rows) setBit(bits, row, true)
  return bits
}

/** Notes where nothing was found. */
function notesOnNone(
  index: SearchIndex,
  text: string,
  { notes, terms, closest }: QueryPlan,
): readonly string[] {
  const all = { text, where: {}, sort: 'relevance', limit: 1, offset: 0 } as const
  const { total } = listingDatabase(index).searchRange({ range: 'organic', ...all })
  if (total > 0)
    return [`No match passes the filters; ${NOTE_PHRASES.withoutFilters} ${total}.`, ...notes]
  const near = closest()
  if (near.length > 0)
    return [...notes, `${NOTE_PHRASES.closestWords} that ${index.noun}s have: ${listOf(near)}.`]
  return notes.length === 0 && terms.length > 0
    ? [`No ${index.noun} matches any of these words.`]
    : notes
}

/** Without words: the order of the contract, `relevance` is the multiplier alone. */
function browse(
  index: SearchIndex,
  { range, where, sort, offset, limit }: Omit<RangeRequest, 'text'>,
): RankedRows {
  const bits = filterRows(index, where)
  const { start, end: last } = index[range]
  const order = index.browseOrder.subarray(start, last)
  const total = bits === null ? order.length : countRows(bits, index[range])
  const end = Math.min(offset + limit, total)
  const toRow = (row: number) => {
    const steps = Math.round(multiplierOf(index.standings[row] ?? NO_TRUST) * RELEVANCE_STEPS)
    return { row, relevance: steps / RELEVANCE_STEPS }
  }
  if (sort !== 'relevance') {
    const rows = order.filter((row) => passes(bits, row))
    const places = sortPlaces(index, rows, { sort, start: offset, end })
    return { total, rows: places.map((place) => toRow(rows[place] ?? 0)) }
  }
  // Without a filter the page lies at its offset; with one, rows before it must be walked.
  if (bits === null) return { total, rows: Array.from(order.subarray(offset, end), toRow) }
  const passing: number[] = []
  for (let at = 0; at < order.length && passing.length < end; at += 1) {
    const row = order[at] ?? 0
    if (passes(bits, row)) passing.push(row)
  }
  return { total, rows: passing.slice(offset).map(toRow) }
}
