import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { countBy } from '../derived/listing-counts.ts'
import { type SourceRow, SourceRowSchema } from '../derived/source-table.ts'
import type { CategoryRow } from '../derived/tables.ts'
import { categoryPath } from '../wire/links.ts'
import { sourceIdsOf } from './summary-view.ts'

const count = v.pipe(v.number(), v.integer(), v.minValue(0))

/** `GET /api/v1/categories`. */
export const CategoriesSchema = v.object({
  categories: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      description: v.string(),
      listings: count,
      page: v.string(),
    }),
  ),
})
export type CategoriesView = v.InferOutput<typeof CategoriesSchema>

export function toCategoriesView(
  rows: readonly CategoryRow[],
  listings: readonly DerivedListing[],
): CategoriesView {
  const counts = countBy(listings, ({ facts }) => facts.categories)
  return {
    categories: rows.map((row) => ({
      ...row,
      listings: counts.get(row.id) ?? 0,
      page: categoryPath(row.id),
    })),
  }
}

const WebUrlSchema = v.pipe(v.string(), v.regex(/^https?:\/\//))

/** `GET /api/v1/sources`: where data comes from and what was decided about its terms. */
export const SourcesSchema = v.object({
  // Our own row points at this directory, wherever it is served.
  sources: v.array(v.object({ ...SourceRowSchema.entries, url: WebUrlSchema, listings: count })),
})
export type SourcesView = v.InferOutput<typeof SourcesSchema>

export function toSourcesView(
  rows: readonly SourceRow[],
  listings: readonly DerivedListing[],
): SourcesView {
  const counts = countBy(listings, sourceIdsOf)
  return { sources: rows.map((row) => ({ ...row, listings: counts.get(row.id) ?? 0 })) }
}
