import {
  type AnyDocumentStore,
  type AnyIndexStore,
  create,
  type IDocumentsStore,
  type IIndex,
  load,
  search,
  type TokenScore,
} from '@orama/orama'
import { NOTE_PHRASES } from '../../domain/search/note-phrases.ts'
import { toFilterValue } from '../../domain/search/search-filters.ts'
import type { SearchQuery } from '../../domain/search/search-parameters.ts'
import { RELEVANCE_STEPS } from '../../domain/search/search-rank.ts'
import type { Explanation, Facets } from '../../domain/search/search-response.ts'
import { taskPath } from '../../domain/wire/links.ts'
import { EFFECTS, type SearchSort } from '../../domain/wire/vocabulary.ts'
import { multiplierOf, NO_TRUST } from '../index/columns.ts'
import type { RowRange, SearchIndex } from '../index/index-file.ts'
import type { RangeName } from '../index/terms.ts'
import type { FilterPhrase } from '../words/word-sets.ts'
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
  toParameters,
  toRowFilter,
} from './filter-rows.ts'
import { listOf, planQuery, type QueryPlan } from './plan-query.ts'
import {
  exactRows,
  explainRows,
  matchBits,
  type RankedRow,
  type RankedRows,
  rankRows,
  sortPlaces,
} from './rank-rows.ts'

/**
 * How a query is answered. `plan-query.ts` splits the text into words (`words/split-text.ts`),
 * leaves out meaningless ones, analyses each of the others (`known-terms.ts`: known, a typo, a
 * prefix) and adds pairs and related words, all as terms with weights. Orama takes the text and
 * calls our components: `filter-rows.ts` makes the filters a bit set; `rank-rows.ts` adds up the
 * postings for all terms, multiplies by trust and Live-Tested, and keeps the best rows, after rows
 * that the query names by id, host or name. `rank-rows.ts` also has other orders and explanations.
 */

export interface SearchOutcome {
  organic: RankedRows
  firstParty: RankedRows
  notes: readonly string[]
  /** The id of the task that the words name (`tasks.yaml`); null if they name none. */
  task: string | null
  /** Searches to try next; empty if there is nothing to suggest. */
  suggested: readonly Suggestion[]
  facets?: Facets
  /** An explanation for each row in either range. */
  explained?: Record<RangeName, readonly Explanation[]>
}

/** The most of our own kits in an answer: more than a page would not be a showcase. */
const FIRST_PARTY_PAGE = { limit: 50, offset: 0 }
const NONE: RankedRows = { total: 0, rows: [] }
const NO_PLAN = {
  terms: [],
  notes: [],
  task: null,
  phrases: [],
  excluded: [],
  missing: [],
  detailed: () => [],
  closest: () => [],
}
const NO_ADVICE: Advice = { suggested: [], notes: [] }

/** Databases are created by the first query, so that no start waits for them. */
const databases = new WeakMap<SearchIndex, ListingDatabase>()

/** Answers a search. Trust and Live-Tested multiply scores before the page is cut; `total` is exact. */
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
  const read = text === undefined ? NO_PLAN : listingDatabase(index).plan(text)
  const plan = others === null ? read : toWishPlan(read, others)
  const advice =
    text === undefined ? NO_ADVICE : adviceFor(index, query, { text, plan, rows: organic.rows })
  const explain = (range: RowRange, { rows }: RankedRows) =>
    explainRows(index, range, { text: text ?? '', plan, rows })
  return {
    organic,
    firstParty,
    notes: [
      ...(others === null ? [] : [alternativesNote(others)]),
      ...(others === null ? taskNotes(index, plan) : []),
      ...(organic.total > 0 || text === undefined ? plan.notes : notesOnNone(index, text, plan)),
      ...advice.notes,
      ...sortNotes(query, organic.total, plan.task),
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

/** The ranked alternatives, if the query asks for one, sorts by relevance, and names a listing with known tasks. */
function alternativesTo(index: SearchIndex, query: SearchQuery): Alternatives | null {
  const { q: text, sort = 'relevance' } = query
  if (text === undefined || sort !== 'relevance') return null
  return findAlternatives(index, text, filterRows(index, toRowFilter(query)))
}

/** A note if no listing does the task; none if no listing has tasks, because then nothing is known. */
function taskNotes(index: SearchIndex, { task }: QueryPlan): string[] {
  const isDone = (id: string) => bitsFor(index, `task:${id}`).some((bits) => bits !== 0)
  if (task === null || index.noun !== 'listing' || isDone(task)) return []
  if (!index.filters.tasks.some(isDone)) return []
  return [`We know no listing that does “${index.words.taskName(task)}”.`]
}

/** Drops the notes on words that only state the wish, such as `alternative`. */
function toWishPlan(plan: QueryPlan, { missing }: Alternatives): QueryPlan {
  const others = plan.notes.filter((note) => !plan.missing.includes(note))
  return { ...plan, missing, notes: [...missing, ...others] }
}

function alternativesNote({ name, tasks }: Alternatives): string {
  const done = tasks.map((id) => id.replaceAll('_', ' '))
  return `Read as a search for other services that do the same as “${name}” (${listOf(done)}).`
}

/** The rows that answer a query, without anything else. */
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
  // One search plans the same text several times: for both ranges, for the notes and for the facets.
  let last: { text: string; plan: QueryPlan } | undefined
  const made = createListingDatabase(index, (text) => {
    if (last?.text !== text) last = { text, plan: planQuery(index, text) }
    return last.plan
  })
  databases.set(index, made)
  return made
}

/** Filters that the query's words suggest; if no listing has one of the words, also a category. */
function adviceFor(
  index: SearchIndex,
  query: SearchQuery,
  { text, plan, rows }: { text: string; plan: QueryPlan; rows: RankedRows['rows'] },
): Advice {
  const { phrases, missing } = plan
  const isNear = missing.length > 0 && query.category === undefined && query.offset === 0
  const nearest = isNear ? suggestCategory(index, rows) : NO_ADVICE
  if (phrases.length === 0) return nearest
  const matched = matchesOf(index, text, plan)
  const filters = suggestFilters(index, query, { phrases, matched, task: plan.task })
  return {
    suggested: [...filters.suggested, ...nearest.suggested],
    notes: [...filters.notes, ...nearest.notes],
  }
}

/** A note saying that the answer to a query is sorted in two parts, see `rankRows`. */
function sortNotes(
  { q, sort = 'relevance' }: SearchQuery,
  total: number,
  task: string | null,
): string[] {
  if (q === undefined || sort === 'relevance' || total === 0) return []
  const key = sort === 'price' ? 'the lowest price of any of their calls' : sort
  const byTask =
    sort === 'price' && task !== null
      ? ` ${taskPath(task)} has its services by the task's price.`
      : ''
  return [
    `Sorted by ${key}: first the results at least half as relevant as the best match, then the others.${byTask}`,
  ]
}

/** All rows that match the words, whatever the filters. */
function matchesOf(index: SearchIndex, text: string, plan: QueryPlan): Uint32Array {
  const bits = matchBits(index, plan)
  for (const { rows } of exactRows(index, index.organic, { text, bits: null }))
    for (const row of rows) setBit(bits, row, true)
  return bits
}

/** How many rows pass all of a query's other filters, but have no known `effect`. */
export function countUnknownEffects(index: SearchIndex, query: SearchQuery): number {
  const { q: text, effect: _, ...others } = query
  const rows = filterRows(index, toRowFilter(others)) ?? allRows(index)
  if (text !== undefined) intersect(rows, matchesOf(index, text, listingDatabase(index).plan(text)))
  const total = countRows(rows, index.organic)
  const known = EFFECTS.map((effect) => {
    const bits = bitsFor(index, `effect:${effect}`)
    return countRows(intersect(bits.slice(), rows), index.organic)
  })
  return known.reduce((left, count) => left - count, total)
}

/** The notes for a search that found nothing. */
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

/** A search without words: rows come in the contract's order, and `relevance` is the multiplier alone. */
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
  // Without a filter the page is a slice at its offset; with a filter, the rows before the offset must be counted too.
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
 * cuts the page. These documented components are ours: the rows that pass a `where`, the rows that
 * match, their scores and their order. Not used are its own index and tokenizer, whose score is not
 * the published BM25, and its storage, which is JSON that must be parsed.
 *
 * A direct call returns every match; `searchRange` limits the rows to the page.
 */

/** A listing as Orama sees it: its words, its filter values, price and trust. */
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

/** A running search: what our components need that Orama does not pass on, and results that it cannot carry. */
interface Work {
  requested: { sort: SearchSort; most: number } | null
  total: number
  plan: (text: string) => QueryPlan
}

/** The rows that pass a filter, in the form in which Orama passes them between components. */
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
    sort: { enabled: false },
    components: {
      index: createListingIndex(index, work),
      documentsStore: createRowStore(index),
      formatElapsedTime: (nanoseconds: bigint) => ({ raw: Number(nanoseconds), formatted: '' }),
    },
  })
  // Orama wants an id for each document: it gets the row number, because ids would have to be read from bodies.
  const internalIdToId = Array.from({ length: index.firstParty.end }, (_, row) => String(row))
  load(orama, {
    internalDocumentIDStore: { internalIdToId },
    ...{ index: null, docs: null, sorting: {}, pinning: { rules: [] }, language: 'english' },
  })
  return {
    /** Orama itself: `search(database, { term, where, sortBy: asRanked, limit, offset })`. */
    orama,
    plan,
    searchRange({ range, text, where, sort, limit, offset }: RangeRequest): RankedRows {
      work.requested = { sort, most: offset + limit }
      try {
        const found = search(orama, {
          term: text,
          where: { ...where, first_party: range === 'firstParty' },
          sortBy: asRanked,
          limit,
          offset,
          includeVectors: true,
        })
        if (!('hits' in found))
          throw new Error('Orama answered asynchronously; its hooks must be synchronous')
        const rows = found.hits.map(({ id, score }) => ({ row: Number(id), relevance: score }))
        return { total: work.total, rows }
      } finally {
        work.requested = null
      }
    },
  }
}

/** Keeps the rows' order, which is not always the order of their scores. */
export const asRanked = () => 0

/** The methods of Orama's index for an index that never changes. */
function createListingIndex(index: SearchIndex, work: Work): IIndex<AnyIndexStore> {
  // Orama's other methods would change the index.
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
      // Orama numbers documents from 1.
      return rows.map(({ row, relevance }): TokenScore => [row + 1, relevance])
    },
    searchByWhereClause(_store, _tokenizer, where) {
      // Orama passes on what `search` was given, typed for any schema.
      const { first_party: isOurs, ...filter } = where as RowFilter & { first_party?: boolean }
      const bits = filterRows(index, filter)
      return new RowSet(bits, isOurs === true ? 'firstParty' : 'organic')
    },
    getSearchableProperties: () => ['words'],
    getSearchablePropertiesWithTypes: () => ({ ...SCHEMA }),
  } as Partial<IIndex<AnyIndexStore>> as IIndex<AnyIndexStore>
}

/** Reads no documents: a page writes the bodies of the rows that it shows. */
function createRowStore(index: SearchIndex): IDocumentsStore<AnyDocumentStore> {
  // Orama's other methods would change the documents.
  return {
    create: () => ({ docs: {} }),
    load: () => ({ docs: {} }),
    get: () => ({}),
    getMultiple: (_store, ids) => ids.map(() => ({})),
    count: () => index.firstParty.end,
  } as Partial<IDocumentsStore<AnyDocumentStore>> as IDocumentsStore<AnyDocumentStore>
}

/** A search to try next, and the number of its results. */
export interface Suggestion {
  parameters: Partial<SearchQuery>
  total: number
}

export interface Advice {
  suggested: readonly Suggestion[]
  notes: readonly string[]
}

/**
 * Filters suggested by the phrases in a query, each with its number of matches, and then all of
 * them together. A filter without matches is left out.
 * @param matched rows that match the words, whatever the filters
 */
function suggestFilters(
  index: SearchIndex,
  query: SearchQuery,
  {
    phrases,
    matched,
    task,
  }: { phrases: readonly FilterPhrase[]; matched: Uint32Array; task: string | null },
): Advice {
  const { q, limit: _l, offset: _o, facets: _f, explain: _e, view: _v, ...filters } = query
  const count = (requested: Partial<SearchQuery>) => {
    const passing = filterRows(index, toRowFilter(requested)) ?? allRows(index)
    return countRows(intersect(passing, matched), index.organic)
  }
  const read = phrases.map((phrase) => ({ phrase, parameters: toParameters(phrase) }))
  const own = read.filter(({ phrase }) => !Object.hasOwn(filters, phrase.parameter))
  const reported = own.map(({ phrase, parameters }) => ({
    phrase,
    parameters: { ...(q !== undefined && { q }), ...filters, ...parameters },
    total: count({ ...filters, ...parameters }),
  }))
  const all: Partial<SearchQuery> = {}
  for (const { parameters } of reported) Object.assign(all, parameters)
  const together = reported.length > 1 ? count(all) : 0
  return {
    suggested: [
      ...(together > 0 ? [{ parameters: all, total: together }] : []),
      ...reported
        .filter(({ total }) => total > 0)
        .map(({ parameters, total }) => ({ parameters, total })),
    ],
    notes: reported.map(
      ({ phrase, total }) => `Left out “${phrase.written}”: ${toAdvice(phrase, total, task)}`,
    ),
  }
}

function toAdvice({ parameter, value }: FilterPhrase, total: number, task: string | null): string {
  if (total === 0) return 'it would leave no results.'
  // The order of results is by the lowest price of any call, whatever that call does.
  if (parameter === 'sort' && value === 'price' && task !== null)
    return `${taskPath(task)} has its services by price.`
  return parameter === 'sort'
    ? `sort=${value} gives that order.`
    : `${parameter}=${toFilterValue(parameter, value)} leaves ${total} of these results.`
}

/** If no listing has one of the words, suggests the category to which most of the best rows belong. */
function suggestCategory(index: SearchIndex, rows: readonly RankedRow[]): Advice {
  const { noun, filters } = index
  let best: { id: string; points: number; bits: Uint32Array } | undefined
  for (const id of filters.categories) {
    const bits = bitsFor(index, `category:${id}`)
    const points = rows.reduce((sum, { row }, at) => sum + Number(passes(bits, row)) / (at + 1), 0)
    if (points > (best?.points ?? 0)) best = { id, points, bits }
  }
  if (best === undefined) return { suggested: [], notes: [] }
  const { id, bits } = best
  const total = countRows(bits, index.organic)
  return {
    suggested: [{ parameters: { category: id }, total }],
    notes: [`The ${NOTE_PHRASES.nearestCategory} ${id}, with ${total} ${noun}s.`],
  }
}
