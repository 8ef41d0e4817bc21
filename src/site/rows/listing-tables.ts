import type { ListingView } from '../../domain/views/listing-view.ts'
import { categoryPath, kindPath } from '../../domain/wire/links.ts'
import type { Kind } from '../../domain/wire/vocabulary.ts'
import { KIND_ORDER } from './kind-texts.ts'
import { type TablePage, toTablePages } from './listing-pages.ts'
import { compareListingRows, type ListingRow, toListingRow } from './listing-row.ts'

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
