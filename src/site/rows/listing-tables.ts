import type { ListingView } from '../../domain/views/listing-view.ts'
import { categoryPath, kindPath } from '../../domain/wire/links.ts'
import type { Kind } from '../../domain/wire/vocabulary.ts'
import { KIND_ORDER } from './kind-texts.ts'
import { compareListingRows, type ListingRow, toListingRow } from './listing-row.ts'

/** Rows on one static page of a long table. */
export const ROWS_PER_PAGE = 100

/** One static page of a table and its neighbours' paths; null at either end. */
export interface TablePage<Row> {
  rows: readonly Row[]
  number: number
  pages: number
  total: number
  /** Place of the first row, counted from 1; 0 without rows. */
  firstRow: number
  path: string
  previous: string | null
  next: string | null
}

/** What one static page of a kind or of a category shows. */
export interface ListingTable {
  page: TablePage<ListingRow>
  /** Lowest prices of every row of the whole table, US dollars. */
  prices: number[]
}

interface Listed {
  view: ListingView
}

interface Category {
  id: string
  name: string
  description: string
}

export function toKindTables(listings: readonly Listed[]): (ListingTable & { kind: Kind })[] {
  const rows = toSortedRows(listings)
  return KIND_ORDER.flatMap((kind) =>
    toTables(
      kindPath(kind),
      rows.filter((row) => row.kind === kind),
    ).map((table) => ({ kind, ...table })),
  )
}

export function toCategoryTables<Known extends Category>(
  listings: readonly Listed[],
  categories: readonly Known[],
): (ListingTable & { category: Known })[] {
  const rows = toSortedRows(listings)
  return categories.flatMap((category) =>
    toTables(
      categoryPath(category.id),
      rows.filter((row) => row.categories.includes(category.id)),
    ).map((table) => ({ category, ...table })),
  )
}

function toSortedRows(listings: readonly Listed[]): ListingRow[] {
  return listings.map(({ view }) => toListingRow(view)).sort(compareListingRows)
}

function toTables(path: string, rows: readonly ListingRow[]): ListingTable[] {
  const prices = rows.flatMap(({ min_usd }) => (min_usd === null ? [] : [min_usd]))
  return toTablePages(path, rows).map((page) => ({ page, prices }))
}

/**
 * Cuts a table into static pages: the first at `path`, the others at `path/2`, `path/3`. An empty
 * table has one page, which says so.
 */
export function toTablePages<Row>(path: string, rows: readonly Row[]): TablePage<Row>[] {
  const pages = Math.max(1, Math.ceil(rows.length / ROWS_PER_PAGE))
  const pathOf = (number: number) => (number === 1 ? path : `${path}/${number}`)
  return Array.from({ length: pages }, (_, index) => {
    const number = index + 1
    const start = index * ROWS_PER_PAGE
    return {
      rows: rows.slice(start, start + ROWS_PER_PAGE),
      number,
      pages,
      total: rows.length,
      firstRow: rows.length === 0 ? 0 : start + 1,
      path: pathOf(number),
      previous: number > 1 ? pathOf(number - 1) : null,
      next: number < pages ? pathOf(number + 1) : null,
    }
  })
}
