/**
 * Orama over the loaded index: its own `search()` checks the query's shape, orders the steps and
 * cuts the page. Ours, in its slots: which rows pass a `where`, which match and what they score,
 * their order, and the documents behind the hits. Not used are its index and tokenizer, whose score
 * is not the published BM25, and its way to save, a JSON that must be parsed.
 *
 * Asked directly, it returns every match. `searchPart` says how many rows the page shows.
 */
import {
  type AnyDocumentStore,
  type AnyIndexStore,
  create,
  type IDocumentsStore,
  type IIndex,
  type ISorter,
  search,
  type TokenScore,
} from '@orama/orama'
import { SEARCH_SORTS, type SearchSort } from '../../domain/wire/vocabulary.ts'
import { readId } from '../index/index-rows.ts'
import type { PartName, SearchIndex } from '../index/index-shape.ts'
import { filterRows, type RowFilter } from './filter-rows.ts'
import type { QueryPlan } from './plan-query.ts'
import { type RankedRow, type RankedRows, rankRows } from './rank-rows.ts'
import { placesFor } from './sort-places.ts'

/** A listing for Orama: its words, its filter values, price and trust. */
const SCHEMA = { words: 'string', values: 'enum[]', min_usd: 'number', trust: 'number' } as const

export type ListingDatabase = ReturnType<typeof createListingDatabase>

export interface PartRequest {
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
  constructor(bits: Uint32Array | null) {
    super()
    this.bits = bits
  }
}

export function createListingDatabase(
  index: SearchIndex,
  name: PartName,
  plan: (text: string) => QueryPlan,
) {
  const work: Work = { asked: null, total: 0, plan }
  const orama = create({
    schema: SCHEMA,
    components: {
      index: createListingIndex(index, name, work),
      documentsStore: createRowStore(index, name),
      sorter: createRowSorter(index, name, work),
      formatElapsedTime: (nanoseconds: bigint) => ({ raw: Number(nanoseconds), formatted: '' }),
    },
  })
  const { internalDocumentIDStore: ids } = orama
  // Orama keeps every id in a list; ours are read from the row when a hit shows them.
  const read = new Proxy<string[]>([], {
    get: (_, key) =>
      key === 'length' ? index[name].rows : readId(index, name, Number(String(key))),
  })
  ids.internalIdToId = read
  // As long as there are rows, without memory: only the last one exists.
  const none: string[] = []
  none[index[name].rows] = ''
  return {
    /** Orama's own: `search(database, { term, where, sortBy, limit, offset })`. */
    orama,
    plan,
    searchPart({ text, where, sort, limit, offset }: PartRequest): RankedRows {
      work.asked = { sort, most: offset + limit }
      // Only the rows of these hits are used: their ids stay unread.
      ids.internalIdToId = none
      try {
        const order = { property: sort, order: 'ASC' } as const
        const found = search(orama, { term: text, where, sortBy: order, limit, offset })
        if (!('hits' in found)) throw new Error('Orama answered later; no hook may make it')
        const rows = found.hits.map(({ document, score }) => toRanked(document, score))
        return { total: work.total, rows }
      } finally {
        work.asked = null
        ids.internalIdToId = read
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

function createListingIndex(index: SearchIndex, name: PartName, work: Work): IIndex<AnyIndexStore> {
  const part = index[name]
  return {
    create: () => ({ vectorIndexes: {} }),
    search(_store, text, _tokenizer, _language, _properties, _exact, _tolerance, ...others) {
      const passing = others[3]
      const { total, rows } = rankRows(index, part, {
        text,
        plan: work.plan(text),
        bits: passing instanceof RowSet ? passing.bits : null,
        sort: work.asked?.sort ?? 'relevance',
        most: work.asked?.most ?? part.rows,
      })
      work.total = total
      return rows.map(({ row, relevance }): TokenScore => [row + 1, relevance])
    },
    searchByWhereClause: (_store, _tokenizer, where) =>
      // Orama hands on what `search` was given, typed for any schema.
      new RowSet(filterRows(part, where as RowFilter, index.filterPlaces)),
    getSearchableProperties: () => ['words'],
    getSearchablePropertiesWithTypes: () => ({ ...SCHEMA }),
    ...refuse('insert', 'remove', 'load', 'save', 'calculateResultScores'),
    ...refuse('insertDocumentScoreParameters', 'insertTokenScoreParameters'),
    ...refuse('removeDocumentScoreParameters', 'removeTokenScoreParameters'),
  }
}

/** The documents are rows of the index file. */
function createRowStore(index: SearchIndex, name: PartName): IDocumentsStore<AnyDocumentStore> {
  const get = (_store: AnyDocumentStore, id: string | number) => ({ row: Number(id) - 1 })
  return {
    create: () => ({ docs: {} }),
    get,
    getMultiple: (store, ids) => ids.map((id) => get(store, id)),
    count: () => index[name].rows,
    ...refuse('getAll', 'store', 'remove', 'load', 'save'),
  }
}

/** The orders of a search; rows come by rank, those of a page in order already. */
function createRowSorter(index: SearchIndex, name: PartName, work: Work): ISorter<object> {
  return {
    create: () => ({}),
    sortBy(_store, scores, { property }) {
      const sort = SEARCH_SORTS.find((known) => known === property)
      if (sort === undefined) throw new Error(`Unknown order: ${String(property)}.`)
      if (work.asked !== null || sort === 'relevance') return scores
      const placeOf = placesFor(index[name], sort)
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
    ...refuse('insert', 'remove', 'load', 'save'),
  }
}
