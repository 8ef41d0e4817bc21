/**
 * The way of a query. `plan-query.ts` splits the text into words (`words/split-text.ts`), leaves out
 * those that say nothing (`left-out.ts`), reads each of the others as a thing asked for
 * (`query-units.ts`: known, a slip, a start, taken apart) and puts pairs and related words beside
 * them: terms, each with what it counts. `listing-database.ts` hands the text to Orama, and Orama to
 * our component: `filter-rows.ts` makes the filters a bit set, `rank-rows.ts` walks the postings of
 * all terms block by block (`block-scores.ts`) and keeps the best rows, times trust and Live-Tested;
 * `exact-rows.ts` puts first what was asked for by id, host or name; `sort-rows.ts` knows the other
 * orders. `count-facets.ts` and `explain-rows.ts` answer what is asked beside the page.
 */
import type { SearchQuery } from '../../domain/search/search-query.ts'
import { RELEVANCE_STEPS } from '../../domain/search/search-rank.ts'
import type { IndexPart, PartName, SearchIndex } from '../index/index-shape.ts'
import { multiplierOf, NO_TRUST } from '../index/standing.ts'
import { countFacets, type FacetCounts } from './count-facets.ts'
import { exactRows } from './exact-rows.ts'
import { explainRows, type RowExplanation } from './explain-rows.ts'
import { countRows, filterRows, passes, toRowFilter } from './filter-rows.ts'
import { createListingDatabase, type ListingDatabase } from './listing-database.ts'
import { listOf, NO_WORD, planQuery, type QueryPlan } from './plan-query.ts'
import { collectMatches } from './rank-rows.ts'
import { type RankedRow, type RankedRows, takeSorted } from './sort-rows.ts'

export interface SearchOutcome {
  organic: RankedRows
  firstParty: RankedRows
  notes: readonly string[]
  facets?: FacetCounts
  /** For each organic row, and each of our own. */
  explained?: Record<PartName, readonly RowExplanation[]>
}

/** Our own kits are few; more than a page of them would be no showcase. */
const FIRST_PARTY_PAGE = { limit: 50, offset: 0 }
const NONE: RankedRows = { total: 0, rows: [] }
const PARTS = ['organic', 'firstParty'] as const

/** Made when the first query comes: a start needn't wait for them. */
const databasesOf = new WeakMap<SearchIndex, Record<PartName, ListingDatabase>>()

/**
 * Searches the organic rows and, apart from them, our own. The score is the specified BM25F times
 * the trust and Live-Tested multipliers, applied before the page is cut; `total` is exact.
 */
export function searchIndex(index: SearchIndex, query: SearchQuery): SearchOutcome {
  return query.q === undefined ? browse(index, query) : searchText(index, query, query.q)
}

/** Orama's databases over an index; `searchIndex` searches them. */
export function listingDatabases(index: SearchIndex): Record<PartName, ListingDatabase> {
  const known = databasesOf.get(index)
  if (known !== undefined) return known
  const plan = rememberLast((text) => planQuery(index, text))
  const made = {
    organic: createListingDatabase(index, 'organic', plan),
    firstParty: createListingDatabase(index, 'firstParty', plan),
  }
  databasesOf.set(index, made)
  return made
}

function searchText(index: SearchIndex, query: SearchQuery, text: string): SearchOutcome {
  // Orama takes a text without characters for none, and answers everything.
  if (text.trim() === '') return { organic: NONE, firstParty: NONE, notes: [NO_WORD] }
  const databases = listingDatabases(index)
  const { sort = 'relevance', limit, offset } = query
  const asked = { text, where: toRowFilter(query), sort }
  const plan = databases.organic.plan(text)
  const organic = databases.organic.searchPart({ ...asked, limit, offset })
  const firstParty =
    index.firstParty.rows === 0
      ? NONE
      : databases.firstParty.searchPart({ ...asked, ...FIRST_PARTY_PAGE })
  const found = { organic, firstParty, notes: notesOf(databases.organic, query, plan, organic) }
  return { ...found, ...besides(index, query, { text, plan, ...found }) }
}

/** What is asked for beside the page. */
function besides(
  index: SearchIndex,
  query: SearchQuery,
  { text, plan, ...found }: Record<PartName, RankedRows> & { text: string; plan: QueryPlan },
): Pick<SearchOutcome, 'facets' | 'explained'> {
  const explain = (part: PartName) =>
    explainRows(index, index[part], { text, plan, rows: found[part].rows })
  return {
    ...(query.facets !== undefined && {
      facets: countFacets(index, query, matchesOf(index, text, plan)),
    }),
    ...(query.explain === true && {
      explained: { organic: explain('organic'), firstParty: explain('firstParty') },
    }),
  }
}

function* matchesOf(index: SearchIndex, text: string, plan: QueryPlan): Generator<number> {
  yield* collectMatches(index, index.organic, plan).rows
  for (const { rows } of exactRows(index, index.organic, { text, bits: null })) yield* rows
}

function notesOf(
  database: ListingDatabase,
  query: SearchQuery,
  { notes, terms, closest }: QueryPlan,
  { total }: RankedRows,
): readonly string[] {
  if (total > 0) return notes
  const { q: text = '', sort: _sort, limit: _limit, offset: _offset } = query
  const unfiltered = database.searchPart({
    text,
    where: {},
    sort: 'relevance',
    limit: 1,
    offset: 0,
  })
  if (unfiltered.total > 0)
    return [...notes, `No match passes the filters; without them there are ${unfiltered.total}.`]
  const near = closest()
  if (near.length > 0)
    return [...notes, `Nothing was found. The closest words that listings have: ${listOf(near)}.`]
  return notes.length === 0 && terms.length > 0 ? ['No listing has a word of the query.'] : notes
}

/** Without words: the order of the contract, `relevance` is the multiplier alone. */
function browse(index: SearchIndex, query: SearchQuery): SearchOutcome {
  const { limit, offset } = query
  const [organic, firstParty] = PARTS.map((name) =>
    browsePart(
      index,
      index[name],
      query,
      name === 'organic' ? { limit, offset } : FIRST_PARTY_PAGE,
    ),
  )
  const found = { organic: organic ?? NONE, firstParty: firstParty ?? NONE, notes: [] }
  const plan = { terms: [], notes: [], closest: () => [] }
  const explained = besides(index, { ...query, facets: undefined }, { text: '', plan, ...found })
  return {
    ...found,
    ...explained,
    ...(query.facets !== undefined && { facets: countFacets(index, query, null) }),
  }
}

function browsePart(
  index: SearchIndex,
  part: IndexPart,
  query: SearchQuery,
  page: { offset: number; limit: number },
): RankedRows {
  const bits = filterRows(part, toRowFilter(query), index.filterPlaces)
  const { sort = 'relevance' } = query
  if (sort !== 'relevance') {
    const most = page.offset + page.limit
    const found = takeSorted(part, { ...browseMatches(part), bits, sort, most })
    return { total: found.total, rows: found.rows.slice(page.offset) }
  }
  const total = bits === null ? part.rows : countRows(bits, part.rows)
  const end = Math.min(page.offset + page.limit, total)
  const rows: RankedRow[] = []
  // Without a filter the page lies at its offset; with one, rows before it must be walked.
  let passed = bits === null ? page.offset : 0
  for (let at = passed; at < part.rows && passed < end; at += 1) {
    const row = part.browseOrder[at] ?? 0
    if (!passes(bits, row)) continue
    if (passed >= page.offset) rows.push(browsed(part, row))
    passed += 1
  }
  return { total, rows }
}

/** All rows, with their place in the order of a search without words as keys. */
function browseMatches(part: IndexPart) {
  const rows = Array.from(part.browseOrder)
  return {
    rows,
    keys: rows.map((_, at) => rows.length - at),
    toRow: (key: number) => browsed(part, rows[rows.length - key] ?? 0),
  }
}

function browsed({ standings }: IndexPart, row: number): RankedRow {
  const multiplier = multiplierOf(standings[row] ?? NO_TRUST)
  return { row, relevance: Math.round(multiplier * RELEVANCE_STEPS) / RELEVANCE_STEPS }
}

/** Both parts, the notes and the facets of one search ask for the plan of the same text. */
function rememberLast<Result>(make: (text: string) => Result): (text: string) => Result {
  let last: { text: string; result: Result } | undefined
  return (text) => {
    if (last?.text !== text) last = { text, result: make(text) }
    return last.result
  }
}
