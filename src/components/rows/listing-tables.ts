import type { Page, PaginateFunction } from 'astro'
import { type CompiledListing, keyOf } from '../../compiled.ts'
import { toFilterWords } from '../../domain/search/filter-words.ts'
import { FILTERS, type FilterName } from '../../domain/search/search-filters.ts'
import { FACET_STEPS, type Kind } from '../../domain/wire/vocabulary.ts'
import { compareListingRows, type ListingRow, toListingRow } from './listing-row.ts'

const ROWS_PER_PAGE = 25

/** Data of one static page of a kind or of a category. */
export interface ListingTable {
  page: Page<KeyedRow>
  /** On the first page, links that narrow the whole table. */
  filters: FilterGroup[]
}

/** With the key of its listing, which covers all inputs of the row. */
type KeyedRow = ListingRow & Pick<CompiledListing, 'key'>

const sorted = new WeakMap<readonly CompiledListing[], KeyedRow[]>()

/** Every listing as a row, in the order of lists; made once for all pages of a build. */
export function toSortedRows(listings: readonly CompiledListing[]): KeyedRow[] {
  const known = sorted.get(listings)
  if (known !== undefined) return known
  const rows = listings.map(({ key, brief }) => ({ ...toListingRow(brief), key }))
  sorted.set(listings, rows.sort(compareListingRows))
  return rows
}

/**
 * The static pages of a table: the first at its own address, the others at `<address>/2`, `/3`. An
 * empty table has one page, which says so.
 */
export function toTablePages<Props extends Record<string, unknown>>(
  paginate: PaginateFunction,
  rows: KeyedRow[],
  {
    params,
    props,
    filters,
  }: { params: Record<string, string>; props: Props; filters: FilterGroup[] },
) {
  return paginate(rows, { pageSize: ROWS_PER_PAGE, params, props }).map((path) => {
    const shown = { ...path.props, filters: path.props.page.currentPage === 1 ? filters : [] }
    const rows = path.props.page.data.map(({ key }) => key)
    const madeFrom = { ...shown, page: { ...path.props.page, data: rows } }
    return { ...path, props: shown, cacheKey: keyOf(madeFrom) }
  })
}

/** More choices of one kind than this are left to the search. */
const MOST = 5

export interface FilterGroup {
  label: string
  links: { text: string; path: string; count: number }[]
}

/** What a list holds, as filters of the search. */
export type ListingBase = { kind: Kind } | { category: string }

/**
 * Searches that narrow a table, with their numbers of rows. A choice of none or all has no link.
 * @param names of categories, by id
 * @param payments whether this directory shows prices
 */
export function toFilterGroups(
  rows: readonly ListingRow[],
  base: ListingBase,
  { names, payments }: { names: ReadonlyMap<string, string>; payments: boolean },
): FilterGroup[] {
  const outside = rows.filter(({ first_party }) => !first_party)
  const toLink = (field: FilterName, value: string) => ({
    text: names.get(value) ?? toFilterWords(field, value),
    path: `/search?${new URLSearchParams({ ...base, [field]: value })}`,
  })
  const group = (
    field: 'kind' | 'category' | 'rail',
    valuesOf: (row: ListingRow) => readonly string[],
  ): FilterGroup => {
    const counts = new Map<string, number>()
    for (const value of outside.flatMap(valuesOf)) counts.set(value, (counts.get(value) ?? 0) + 1)
    const chosen = [...counts]
      .filter(([, count]) => count < outside.length)
      .sort(([a, x], [b, y]) => y - x || (a < b ? -1 : 1))
      .slice(0, MOST)
    const links = chosen.map(([value, count]) => ({ ...toLink(field, value), count }))
    return { label: FILTERS[field].list.label, links }
  }
  // A step that adds nothing to the one before says nothing.
  const steps = (payments ? FACET_STEPS.max_price_usd : [])
    .map((step) => {
      const { length } = outside.filter(({ min_usd }) => min_usd !== null && min_usd <= step)
      return { ...toLink('max_price_usd', String(step)), count: length }
    })
    .filter(({ count }, at, all) => count > (all[at - 1]?.count ?? 0))
  return [
    'kind' in base
      ? group('category', ({ categories }) => categories)
      : group('kind', ({ kind }) => [kind]),
    group('rail', ({ rails }) => rails),
    { label: FILTERS.max_price_usd.list.label, links: steps },
  ].filter(({ links }) => links.length > 0)
}
