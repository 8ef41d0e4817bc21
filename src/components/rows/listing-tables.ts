import type { Page, PaginateFunction } from 'astro'
import { type CompiledListing, keyOf, readShared } from '../../compiled.ts'
import { listedPriceOf } from '../../domain/listing/pricing.ts'
import { compareListings, toOrderText, toPlace } from './listing-row.ts'

const ROWS_PER_PAGE = 25

/** Data for one static page of a kind or a category. */
export interface ListingTable {
  page: Page<KeyedRow>
  /** The table's own order, in words. */
  order: string
  orders: ReturnType<typeof toOrders>
}

/** A row's listing; its key covers all inputs to the row. */
type KeyedRow = Pick<CompiledListing, 'key' | 'brief'>

/** Every listing as a row, in list order. */
export function toSortedRows(listings: readonly CompiledListing[]): KeyedRow[] {
  const rows = listings.map(({ key, brief }) => ({ key, brief }))
  return rows.sort((a, b) => compareListings(a.brief, b.brief))
}

/**
 * A table's static pages: the first at its own address, the others at `<address>/2`, `/3`. An empty
 * table has one page, which says so.
 */
export function toTablePages<Props extends Record<string, unknown>>(
  paginate: PaginateFunction,
  rows: KeyedRow[],
  { params, props }: { params: Record<string, string>; props: Props },
) {
  const { payments, trust } = readShared().texts.switches
  const ours = rows.filter(({ brief }) => brief.first_party).length
  const order = toOrderText({
    trust: trust && rows.some(({ brief }) => brief.trust.score !== null),
    places: new Set(rows.map(({ brief }) => toPlace(brief))).size > 1,
    prices: payments && rows.some(({ brief }) => listedPriceOf(brief) !== null),
    ours,
  })
  const more = {
    order: ours === rows.length ? 'made by us, not ranked' : order,
    orders: toOrders(rows, payments),
  }
  return paginate(rows, { pageSize: ROWS_PER_PAGE, params, props: { ...props, ...more } }).map(
    (path) => {
      const rows = path.props.page.data.map(({ key }) => key)
      const madeFrom = { ...path.props, page: { ...path.props.page, data: rows } }
      return { ...path, cacheKey: keyOf(madeFrom) }
    },
  )
}

/** Other orders of the same listings, each only if a listing has a value for it. */
export function toOrders(rows: readonly Pick<KeyedRow, 'brief'>[], payments: boolean) {
  const orders = [
    ['price', 'Price', payments && rows.some(({ brief }) => listedPriceOf(brief) !== null)],
    ['paid', 'Most paid', payments && rows.some(({ brief }) => brief.paid !== undefined)],
    ['newest', 'Newest', true],
  ] as const
  return orders.flatMap(([sort, text, isKnown]) => (isKnown ? [{ text, sort }] : []))
}
