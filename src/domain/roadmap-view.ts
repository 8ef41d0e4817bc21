import * as v from 'valibot'
import { ROUTES } from './route-table.ts'
import type { RoadmapRow } from './tables.ts'
import { FEATURE_STATUSES } from './vocabulary.ts'

/** `GET /api/v1/roadmap` (contract §10): texts from the table, status from the routes. */
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

/** True when the route table answers this `METHOD /path`, or it is a page (`GET /…` outside the API). */
export function isKnownEndpoint(endpoint: string): boolean {
  return statusOf(endpoint) !== 'planned'
}

function statusOf(endpoint: string | null): (typeof FEATURE_STATUSES)[number] {
  if (endpoint === null) return 'planned'
  const [method = '', path = ''] = endpoint.split(' ')
  // A page, of which the build knows; only reads stand outside the interface.
  if (!path.startsWith('/api/') && !path.startsWith('/go/'))
    return method === 'GET' ? 'live' : 'planned'
  const route = Object.values(ROUTES).find(
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
