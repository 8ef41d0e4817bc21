import * as v from 'valibot'
import type { RoadmapRow } from '../derived/tables.ts'
import { PAGE_TEMPLATES } from '../listing/page-templates.ts'
import { DOORS } from '../wire/door-table.ts'
import { ROUTES } from '../wire/route-table.ts'
import { FEATURE_STATUSES } from '../wire/vocabulary.ts'

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

/** True when the route table answers this `METHOD /path`, or it is the `GET` of a page there is. */
export function isKnownEndpoint(endpoint: string): boolean {
  return statusOf(endpoint) !== 'planned'
}

function statusOf(endpoint: string | null): (typeof FEATURE_STATUSES)[number] {
  if (endpoint === null) return 'planned'
  const [method = '', path = ''] = endpoint.split(' ')
  if (method === 'GET' && PAGE_TEMPLATES.includes(toTemplate(path))) return 'live'
  const route = [...Object.values(ROUTES), ...Object.values(DOORS)].find(
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
