import type { Page, PaginateFunction } from 'astro'
import { keyOf } from '../../compiled.ts'
import type { ListingView } from '../../domain/views/listing-view.ts'
import { compareListingRows, type ListingRow, toListingRow } from './listing-row.ts'

const ROWS_PER_PAGE = 100

/** What one static page of a kind or of a category shows. */
export interface ListingTable {
  page: Page<ListingRow>
  /** On the first page the lowest prices of every row of the whole table, US dollars. */
  prices: number[]
}

/** Every listing as a row, in the order of lists. */
export function toSortedRows(listings: readonly { view: ListingView }[]): ListingRow[] {
  return listings.map(({ view }) => toListingRow(view)).sort(compareListingRows)
}

/**
 * The static pages of a table: the first at its own address, the others at `<address>/2`, `/3`. An
 * empty table has one page, which says so.
 */
export function toTablePages<Props extends Record<string, unknown>>(
  paginate: PaginateFunction,
  rows: ListingRow[],
  { params, props }: { params: Record<string, string>; props: Props },
) {
  const prices = rows.flatMap(({ min_usd }) => (min_usd === null ? [] : [min_usd]))
  return paginate(rows, { pageSize: ROWS_PER_PAGE, params, props }).map((path) => {
    const shown = { ...path.props, prices: path.props.page.currentPage === 1 ? prices : [] }
    return { ...path, props: shown, cacheKey: keyOf(shown) }
  })
}
