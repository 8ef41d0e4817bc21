import { NOTE_PHRASES } from '../../domain/search/note-phrases.ts'
import { toFilterValue } from '../../domain/search/search-filters.ts'
import type { SearchQuery } from '../../domain/search/search-parameters.ts'
import type { SearchIndex } from '../index/index-shape.ts'
import type { FilterPhrase } from '../words/word-sets.ts'
import {
  allRows,
  bitsFor,
  countRows,
  filterRows,
  intersect,
  passes,
  toRowFilter,
} from './filter-rows.ts'
import type { RankedRow } from './rank-rows.ts'

/** A search to follow, and how many results it has. */
export interface Suggestion {
  parameters: Partial<SearchQuery>
  total: number
}

export interface Advice {
  suggested: readonly Suggestion[]
  notes: readonly string[]
}

/**
 * Filters suggested by the phrases of a query, each with its number of matches, and all of them
 * together. None without matches is offered.
 * @param matched rows that match the words, whatever the filters
 */
export function suggestFilters(
  index: SearchIndex,
  query: SearchQuery,
  { phrases, matched }: { phrases: readonly FilterPhrase[]; matched: Uint32Array },
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
      ({ phrase, total }) => `Left out “${phrase.written}”: ${toAdvice(phrase, total)}`,
    ),
  }
}

function toAdvice({ parameter, value }: FilterPhrase, total: number): string {
  if (total === 0) return 'it would leave no results.'
  return parameter === 'sort'
    ? `sort=${value} gives that order.`
    : `${parameter}=${toFilterValue(parameter, value)} leaves ${total} of these results.`
}

function toParameters({ parameter, value }: FilterPhrase): Partial<SearchQuery> {
  if (parameter === 'max_price_usd') return { max_price_usd: Number(value) }
  return parameter === 'paid_only' ? { paid_only: true } : { [parameter]: value }
}

/** Where no listing has a word: the category that most of the best rows are in. */
export function suggestCategory(index: SearchIndex, rows: readonly RankedRow[]): Advice {
  const { noun, filters, filterPlaces } = index
  let best: { id: string; points: number; bits: Uint32Array } | undefined
  for (const id of filters.categories) {
    const bits = bitsFor(index, filterPlaces.get(`category:${id}`))
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
