import * as v from 'valibot'
import { AlsoSearchSchema } from '../derived/tables.ts'
import { ListingSummarySchema } from '../views/summary-view.ts'
import { SearchQuerySchema } from './search-query.ts'

/** spec: GET /api/v1/search, response 200. */
export const SearchResponseSchema = v.object({
  search_id: v.pipe(v.string(), v.uuid()),
  query: SearchQuerySchema,
  total: v.pipe(v.number(), v.integer(), v.minValue(0)),
  results: v.array(ListingSummarySchema),
  featured: v.array(ListingSummarySchema),
  featured_label: v.string(),
  featured_first_party: v.array(ListingSummarySchema),
  /** Always empty: placements are not sold. */
  sponsored: v.pipe(v.array(v.any()), v.maxLength(0)),
  sponsored_policy: v.string(),
  also_search: v.array(AlsoSearchSchema),
  ranking: v.string(),
  payments_enabled: v.literal(false),
  notes: v.array(v.string()),
  attribution: v.array(v.string()),
})
