import { LISTING_FILTERS } from '../../domain/search/search-filters.ts'
import { FACET_STEPS, KINDS } from '../../domain/wire/vocabulary.ts'
import type { SearchResults, SearchRow } from './search-answer.ts'
import type { SearchField, SearchForm } from './search-form.ts'

/** The facts of a listing in the index next to the pages, as on its page. */
export type PageMeta = Readonly<Record<string, string | undefined>>

/** The index's note in its answers. */
export const NOT_IN_INDEX =
  'This copy of the site has no search server. Your browser looks in an index for all of the words, exactly as typed.'

/**
 * The one filter of the index: its values are `kind:http_api` and the like. Each filter would be a
 * file of its own in each index, and all of them are read before the first search.
 */
export const INDEX_FACET = 'facet'

/** Name of each filter in the index; the others are not in it. */
const FILTERS = [
  ...(['kind', 'category', 'rail', 'source', 'runs', 'auth'] as const).map(
    (name) => [name, name] as const,
  ),
  ['max_price_usd', 'price'],
  ['min_trust', 'trust'],
] as const satisfies (readonly [SearchField, string])[]
const OTHER_FIELDS = LISTING_FILTERS.filter((name) => !FILTERS.some(([field]) => field === name))

/** Values of the index's filter that a form asks for, and its fields that the index cannot answer. */
export function toIndexFilters(form: SearchForm): { filters: string[]; left: SearchField[] } {
  const filters: string[] = []
  const left: SearchField[] = OTHER_FIELDS.filter((field) => form[field] !== undefined)
  for (const [field, name] of FILTERS) {
    const value = form[field]
    if (value === undefined) continue
    if (isStep(field, value)) filters.push(`${name}:${value}`)
    else left.push(field)
  }
  return { filters, left }
}

/** Numbers are in the index as the offered steps. */
function isStep(field: SearchField, value: string): boolean {
  if (field !== 'max_price_usd' && field !== 'min_trust') return true
  return FACET_STEPS[field].some((step) => String(step) === value)
}

/** Counts by value of the index's filter (`kind:http_api`), as a search answers facets. */
export function toIndexFacets(counts: Readonly<Record<string, number>>): SearchResults['facets'] {
  const facets = FILTERS.map(([field, name]) => {
    const start = `${name}:`
    const values = Object.entries(counts)
      .filter(([value, count]) => value.startsWith(start) && count > 0)
      .map(([value, count]) => ({ id: value.slice(start.length), count }))
    const isNumber = field === 'max_price_usd' || field === 'min_trust'
    return [
      field,
      values.sort((a, b) =>
        isNumber ? Number(a.id) - Number(b.id) : b.count - a.count || (a.id < b.id ? -1 : 1),
      ),
    ] as const
  })
  return Object.fromEntries(facets)
}

/** A result from its page's data. */
export function toIndexRow(meta: PageMeta): SearchRow {
  const [min, max] = (meta.price ?? '').split(' ').map(Number)
  const { id = '', title = '', summary = '', rails = '', trust, unvouched } = meta
  return {
    id,
    name: title,
    summary,
    kind: KINDS.find((kind) => kind === meta.kind) ?? 'http_api',
    price: min === undefined || max === undefined ? null : { min_usd: min, max_usd: max },
    rails: rails === '' ? [] : rails.split(' '),
    trust: trust === undefined || trust === '' ? null : Number(trust),
    vouched: unvouched === undefined,
  }
}
