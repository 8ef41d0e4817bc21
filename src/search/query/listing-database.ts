/**
 * Orama over the loaded index: its own `search()` checks the query's shape, orders the steps and
 * cuts the page. Ours, as its documented components: which rows pass a `where`, which match and what
 * they score, their order, and the documents behind the hits. Not used are its index and tokenizer,
 * whose score is not the published BM25, and its way to save, a JSON that must be parsed.
 *
 * Asked directly, it returns every match. `searchRange` says how many rows the page shows.
 */
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
import { SEARCH_SORTS, type SearchSort } from '../../domain/wire/vocabulary.ts'
import { readId } from '../index/index-rows.ts'
import type { SearchIndex } from '../index/index-shape.ts'
import type { RangeName } from '../index/postings.ts'
import { filterRows, type RowFilter } from './filter-rows.ts'
import type { QueryPlan } from './plan-query.ts'
import { type RankedRow, type RankedRows, rankRows } from './rank-rows.ts'
import { placesFor } from './sort-places.ts'

/** A listing for Orama: its words, its filter values, price and trust. */
const SCHEMA = {
  words: 'string',
  values: 'enum[]',
  min_usd: 'number',
  trust: 'number',
  first_party: 'boolean',
} as const

export type ListingDatabase = ReturnType<typeof createListingDatabase>

export interface RangeRequest {
  range: RangeName
  text: string
  where: RowFilter
  sort: SearchSort
  limit: number
  offset: number
}

/** One running search: its inputs before Orama asks, and its results other than Orama's. */
interface Work {
  asked: { sort: SearchSort; most: number } | null
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

export function createListingDatabase(index: SearchIndex, plan: (text: string) => QueryPlan) {
  const work: Work = { asked: null, total: 0, plan }
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
      work.asked = { sort, most: offset + limit }
      try {
        const found = search(orama, {
          term: text,
          where: { ...where, first_party: range === 'firstParty' },
          sortBy: { property: sort, order: 'ASC' },
          limit,
          offset,
        })
        if (!('hits' in found)) throw new Error('Orama answered later; no hook may make it')
        const rows = found.hits.map(({ document, score }) => toRanked(document, score))
        return { total: work.total, rows }
      } finally {
        work.asked = null
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
        sort: work.asked?.sort ?? 'relevance',
        most: work.asked?.most ?? index.firstParty.end,
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
  const get = (_store: AnyDocumentStore, id: string | number) => {
    const row = Number(id) - 1
    return {
      row,
      get id() {
        return readId(index, row)
      },
    }
  }
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
      if (work.asked !== null || sort === 'relevance') return scores
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
