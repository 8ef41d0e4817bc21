import type { Page, PaginateFunction } from 'astro'
import { type CompiledListing, keyOf } from '../../compiled.ts'
import type { FilterGroup } from './filter-links.ts'
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
