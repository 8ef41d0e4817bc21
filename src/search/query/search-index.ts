import {
  type AnyDocumentStore,
  type AnyIndexStore,
  create,
  type IDocumentsStore,
  type IIndex,
  type ISorter,
  load,
  search,
  type TokenScore,
} from '@orama/orama'
import { NOTE_PHRASES } from '../../domain/search/note-phrases.ts'
import type { SearchQuery } from '../../domain/search/search-parameters.ts'
import { RELEVANCE_STEPS } from '../../domain/search/search-rank.ts'
import type { Explanation, Facets } from '../../domain/search/search-response.ts'
import { EFFECTS, SEARCH_SORTS, type SearchSort } from '../../domain/wire/vocabulary.ts'
import { multiplierOf, NO_TRUST } from '../index/columns.ts'
import type { RowRange, SearchIndex } from '../index/index-shape.ts'
import type { RangeName } from '../index/terms.ts'
import { type Advice, type Suggestion, suggestCategory, suggestFilters } from './advice.ts'
import { type Alternatives, findAlternatives } from './alternatives.ts'
import {
  allRows,
  bitsFor,
  countFacets,
  countRows,
  filterRows,
  intersect,
  passes,
  type RowFilter,
  setBit,
  toRowFilter,
} from './filter-rows.ts'
import { listOf, planQuery, type QueryPlan } from './plan-query.ts'
import {
  exactRows,
  explainRows,
  matchBits,
  placesFor,
  type RankedRow,
  type RankedRows,
  rankRows,
  sortPlaces,
} from './rank-rows.ts'

/**
 * The path of a query. `plan-query.ts` splits the text into words (`words/split-text.ts`), leaves
 * out meaningless ones, analyses each of the others (`known-terms.ts`: known, a typo, a prefix,
 * split) and adds pairs and related words: terms with weights. Orama is handed the text, and hands
 * it to our component: `filter-rows.ts` makes the filters a bit set, `rank-rows.ts` adds up the
 * postings of all terms and keeps the best rows, times trust and Live-Tested, after those that were
 * named by id, host or name; it has the other orders and the explanations too.
 */

export interface SearchOutcome {
  organic: RankedRows
  firstParty: RankedRows
  notes: readonly string[]
  /** The id of the task that the words name (`tasks.yaml`); null where they name none. */
  task: string | null
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
  task: null,
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
  const others = alternativesTo(index, query)
  const { limit, offset } = query
  const organic =
    others === null
      ? rankIndex(index, query)
      : { total: others.total, rows: others.rows.slice(offset, offset + limit) }
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
      ...(others === null ? [] : [alternativesNote(others)]),
      ...(organic.total > 0 || text === undefined ? plan.notes : notesOnNone(index, text, plan)),
      ...advice.notes,
      ...sortNotes(query, organic.total),
    ],
    task: plan.task,
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

/** Where the query wants an alternative to a listing whose tasks are known, in its own order. */
function alternativesTo(index: SearchIndex, query: SearchQuery): Alternatives | null {
  const { q: text, sort = 'relevance' } = query
  if (text === undefined || sort !== 'relevance') return null
  return findAlternatives(index, text, filterRows(index, toRowFilter(query)))
}

function alternativesNote({ name, tasks }: Alternatives): string {
  const done = tasks.map((id) => id.replaceAll('_', ' '))
  return `Read as a wish for what does the same as “${name}” (${listOf(done)}), without it.`
}

/** Only the rows that answer a query. */
export function rankIndex(
  index: SearchIndex,
  query: SearchQuery,
  range: RangeName = 'organic',
): RankedRows {
  const { q: text, limit, offset, sort = 'relevance' } = query
  const requested = { range, where: toRowFilter(query), sort, limit, offset }
  return text === undefined
    ? browse(index, requested)
    : listingDatabase(index).searchRange({ text, ...requested })
}

/** Orama's database over an index; `searchIndex` searches it. */
export function listingDatabase(index: SearchIndex): ListingDatabase {
  const known = databases.get(index)
  if (known !== undefined) return known
  // Both ranges, the notes and the facets of one search need the plan of the same text.
  let last: { text: string; plan: QueryPlan } | undefined
  const made = createListingDatabase(index, (text) => {
    if (last?.text !== text) last = { text, plan: planQuery(index, text) }
    return last.plan
  })
  databases.set(index, made)
  return made
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

/** How many rows pass all filters of a query but `effect`, because nobody says what they change. */
export function countUnknownEffects(index: SearchIndex, query: SearchQuery): number {
  const { q: text, effect: _, ...others } = query
  const rows = filterRows(index, toRowFilter(others)) ?? allRows(index)
  if (text !== undefined) intersect(rows, matchesOf(index, text, listingDatabase(index).plan(text)))
  const total = countRows(rows, index.organic)
  const known = EFFECTS.map((effect) => {
    const bits = bitsFor(index, index.filterPlaces.get(`effect:${effect}`))
    return countRows(intersect(bits.slice(), rows), index.organic)
  })
  return known.reduce((left, count) => left - count, total)
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
    const steps = Math.round(multiplierOf(index.trustMarks[row] ?? NO_TRUST) * RELEVANCE_STEPS)
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

/**
 * Orama over the loaded index: its own `search()` checks the query's shape, orders the steps and
 * cuts the page. Ours, as its documented components: which rows pass a `where`, which match and what
 * they score, their order, and the documents behind the hits. Not used are its index and tokenizer,
 * whose score is not the published BM25, and its way to save, a JSON that must be parsed.
 *
 * Asked directly, it returns every match. `searchRange` says how many rows the page shows.
 */

/** A listing for Orama: its words, its filter values, price and trust. */
const SCHEMA = {
  words: 'string',
  values: 'enum[]',
  min_usd: 'number',
  trust: 'number',
  first_party: 'boolean',
} as const

type ListingDatabase = ReturnType<typeof createListingDatabase>

interface RangeRequest {
  range: RangeName
  text: string
  where: RowFilter
  sort: SearchSort
  limit: number
  offset: number
}

/** One running search: its inputs before Orama asks, and its results other than Orama's. */
interface Work {
  requested: { sort: SearchSort; most: number } | null
  total: number
  plan: (text: string) => QueryPlan
}

/** Rows as Orama numbers them: from 1. */
class RowSet extends Set<number> {
  readonly bits: Uint32Array | null
  readonly range: RangeName
  constructor(bits: Uint32Array | null, range: RangeName) {
    super()
    this.bits = bits
    this.range = range
  }
}

function createListingDatabase(index: SearchIndex, plan: (text: string) => QueryPlan) {
  const work: Work = { requested: null, total: 0, plan }
  const orama = create({
    schema: SCHEMA,
    components: {
      index: createListingIndex(index, work),
      documentsStore: createRowStore(index),
      sorter: createRowSorter(index, work),
      formatElapsedTime: (nanoseconds: bigint) => ({ raw: Number(nanoseconds), formatted: '' }),
    },
  })
  // Orama names every document: by its row, as an id would have to be read from the listing's body.
  const internalIdToId = Array.from({ length: index.firstParty.end }, (_, row) => String(row))
  load(orama, {
    internalDocumentIDStore: { internalIdToId },
    ...{ index: null, docs: null, sorting: null, pinning: { rules: [] }, language: 'english' },
  })
  return {
    /** Orama's own: `search(database, { term, where, sortBy, limit, offset })`. */
    orama,
    plan,
    searchRange({ range, text, where, sort, limit, offset }: RangeRequest): RankedRows {
      work.requested = { sort, most: offset + limit }
      try {
        const found = search(orama, {
          term: text,
          where: { ...where, first_party: range === 'firstParty' },
          sortBy: { property: sort, order: 'ASC' },
          limit,
          offset,
          includeVectors: true,
        })
        if (!('hits' in found)) throw new Error('Orama answered later; no hook may make it')
        const rows = found.hits.map(({ document, score }) => toRanked(document, score))
        return { total: work.total, rows }
      } finally {
        work.requested = null
      }
    },
  }
}

function toRanked(document: unknown, relevance: number): RankedRow {
  const row =
    typeof document === 'object' && document !== null ? Reflect.get(document, 'row') : undefined
  if (typeof row !== 'number') throw new Error('a hit without its row')
  return { row, relevance }
}

/** A component's functions for mutable rows. */
function refuse<Method extends string>(...methods: Method[]): Record<Method, () => never> {
  const refused = methods.map((method) => [
    method,
    () => {
      throw new Error(`The listings have no ${method}: build the search index again instead.`)
    },
  ])
  // `fromEntries` widens the names it was given.
  return Object.fromEntries(refused) as Record<Method, () => never>
}

function createListingIndex(index: SearchIndex, work: Work): IIndex<AnyIndexStore> {
  return {
    create: () => ({ vectorIndexes: {} }),
    load: () => ({ vectorIndexes: {} }),
    search(_store, text, _tokenizer, _language, _properties, _exact, _tolerance, ...others) {
      const passing = others[3]
      const { bits, range } = passing instanceof RowSet ? passing : new RowSet(null, 'organic')
      const { total, rows } = rankRows(index, index[range], {
        text,
        plan: work.plan(text),
        bits,
        sort: work.requested?.sort ?? 'relevance',
        most: work.requested?.most ?? index.firstParty.end,
      })
      work.total = total
      return rows.map(({ row, relevance }): TokenScore => [row + 1, relevance])
    },
    searchByWhereClause(_store, _tokenizer, where) {
      // Orama hands on what `search` was given, typed for any schema.
      const { first_party: isOurs, ...filter } = where as RowFilter & { first_party?: boolean }
      const bits = filterRows(index, filter)
      return new RowSet(bits, isOurs === true ? 'firstParty' : 'organic')
    },
    getSearchableProperties: () => ['words'],
    getSearchablePropertiesWithTypes: () => ({ ...SCHEMA }),
    ...refuse('insert', 'remove', 'save', 'calculateResultScores'),
    ...refuse('insertDocumentScoreParameters', 'insertTokenScoreParameters'),
    ...refuse('removeDocumentScoreParameters', 'removeTokenScoreParameters'),
  }
}

/** The documents are rows of the index file. */
function createRowStore(index: SearchIndex): IDocumentsStore<AnyDocumentStore> {
  // Their ids stay unread: a page writes the bodies that it shows.
  const get = (_store: AnyDocumentStore, id: string | number) => ({ row: Number(id) - 1 })
  return {
    create: () => ({ docs: {} }),
    load: () => ({ docs: {} }),
    get,
    getMultiple: (store, ids) => ids.map((id) => get(store, id)),
    count: () => index.firstParty.end,
    ...refuse('getAll', 'store', 'remove', 'save'),
  }
}

/** The orders of a search; rows come by rank, those of a page in order already. */
function createRowSorter(index: SearchIndex, work: Work): ISorter<object> {
  return {
    create: () => ({}),
    load: () => ({}),
    sortBy(_store, scores, { property }) {
      const sort = SEARCH_SORTS.find((known) => known === property)
      if (sort === undefined) throw new Error(`Unknown order: ${String(property)}.`)
      if (work.requested !== null || sort === 'relevance') return scores
      const placeOf = placesFor(index, sort)
      const row = (id: string | number) => Number(id) - 1
      const half = scores.reduce((best, [, score]) => Math.max(best, score), 0) / 2
      return scores.sort(
        ([a, left], [b, right]) =>
          Number(right >= half) - Number(left >= half) ||
          placeOf(row(a)) - placeOf(row(b)) ||
          right - left ||
          row(a) - row(b),
      )
    },
    getSortableProperties: () => [...SEARCH_SORTS],
    getSortablePropertiesWithTypes: () =>
      Object.fromEntries(SEARCH_SORTS.map((sort) => [sort, 'number'])),
    ...refuse('insert', 'remove', 'save'),
  }
}
