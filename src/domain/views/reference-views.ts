import * as v from 'valibot'
import type { DerivedListing } from '../derived/derived-listing.ts'
import { countBy } from '../derived/listing-counts.ts'
import { type SourceRow, SourceRowSchema } from '../derived/source-table.ts'
import {
  type CategoryRow,
  type RoadmapRow,
  type SiteTexts,
  SiteTextsSchema,
} from '../derived/tables.ts'
import { PAGE_TEMPLATES } from '../listing/page-templates.ts'
import { categoryPath } from '../wire/links.ts'
import { PROTOCOL_ENDPOINTS } from '../wire/protocol-table.ts'
import { ROUTES } from '../wire/route-table.ts'
import { count } from '../wire/shapes.ts'
import { FEATURE_STATUSES } from '../wire/vocabulary.ts'
import { sourceIdsOf } from './summary-view.ts'

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

/** `GET /api/v1/sources`: where data comes from and the decisions about its terms. */
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

/** `GET /api/v1/business-model`. The money facts are constants: no table may change them. */
export const BusinessModelSchema = v.object({
  ...SiteTextsSchema.entries.business_model.entries,
  fee_usd: v.literal(0),
  custody: v.literal('none'),
  in_transaction_path: v.literal(false),
  sponsored_placements: v.literal(false),
})
export type BusinessModelView = v.InferOutput<typeof BusinessModelSchema>

export function toBusinessModelView(site: SiteTexts): BusinessModelView {
  return {
    ...site.business_model,
    fee_usd: 0,
    custody: 'none',
    in_transaction_path: false,
    sponsored_placements: false,
  }
}

/** `GET /api/v1/roadmap`: texts from the table, status from the routes. */
export const RoadmapSchema = v.object({
  features: v.array(
    v.object({
      id: v.string(),
      name: v.string(),
      status: v.picklist(FEATURE_STATUSES),
      endpoint: v.nullable(v.string()),
      note: v.string(),
    }),
  ),
})
export type RoadmapView = v.InferOutput<typeof RoadmapSchema>

export function toRoadmapView(rows: readonly RoadmapRow[]): RoadmapView {
  return { features: rows.map((row) => ({ ...row, status: statusOf(row.endpoint) })) }
}

/** True when the route table has this `METHOD /path`, or it is the `GET` of an existing page. */
export function isKnownEndpoint(endpoint: string): boolean {
  return statusOf(endpoint) !== 'planned'
}

function statusOf(endpoint: string | null): (typeof FEATURE_STATUSES)[number] {
  if (endpoint === null) return 'planned'
  const [method = '', path = ''] = endpoint.split(' ')
  if (method === 'GET' && PAGE_TEMPLATES.includes(toTemplate(path))) return 'live'
  const route = [...Object.values(ROUTES), ...Object.values(PROTOCOL_ENDPOINTS)].find(
    (row) =>
      toTemplate(row.path) === toTemplate(path) &&
      row.methods.some((allowed) => allowed === method || method === 'ALL'),
  )
  if (route === undefined) return 'planned'
  return route.answer === 'stub' ? 'stub' : 'live'
}

/** `/x/:id`, `/x/<id>` and `/x/{id}` are one path. */
function toTemplate(path: string): string {
  return path.replace(/:\w+|<\w+>|\{\w+\}/g, '*')
}
