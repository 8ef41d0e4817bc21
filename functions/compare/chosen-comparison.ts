import { type ChosenComparison, toChosenComparison } from '../../src/domain/compare/compare-view.ts'
import type { StatsView } from '../../src/domain/views/stats-view.ts'
import { LEAST_COMPARED, MOST_COMPARED } from '../../src/domain/wire/links.ts'
import { ROUTES } from '../../src/domain/wire/route-table.ts'
import type { InputError } from '../http/problem.ts'
import type { Parts } from '../parts/parts.ts'

export type ComparisonParts = Pick<Parts, 'release' | 'config'>
export type ComparisonReply = { view: ChosenComparison } | { errors: InputError[] }

/** The record for listings that somebody chose: one for the endpoint, the page and every door. */
export function createComparison({ release, config }: ComparisonParts) {
  return async function compare(ids: readonly string[]): Promise<ComparisonReply> {
    const current = release()
    const rows = await current.doorData.compareRows()
    const chosen = [...new Set(ids)]
    const unknown = chosen.filter((id) => !rows.has(id))
    if (unknown.length > 0)
      return { errors: [toError(`no listing has the id ${unknown.join(', ')}`)] }
    if (chosen.length < LEAST_COMPARED || chosen.length > MOST_COMPARED)
      return {
        errors: [
          toError(`expected ${LEAST_COMPARED} to ${MOST_COMPARED} ids, got ${chosen.length}`),
        ],
      }
    const stats = await current.files.read(ROUTES.stats.path)
    // JSON.parse is typed `any`: the build wrote this file.
    const { updated }: StatsView = JSON.parse(stats?.toString('utf8') ?? '{"updated":""}')
    const view = toChosenComparison(
      chosen.flatMap((id) => rows.get(id) ?? []),
      {
        baseUrl: config.BASE_URL,
        site: current.site,
        updated,
        isFirstParty: (id) => current.listings.get(id)?.first_party === true,
      },
    )
    return { view }
  }
}

/** `ids=a,b` or `ids=a&ids=b`; anything else in the query is named. */
export function readComparedIds(query: string): { ids: string[] } | { errors: InputError[] } {
  const parameters = new URLSearchParams(query)
  const others = [...new Set(parameters.keys())].filter((name) => name !== 'ids')
  if (others.length > 0)
    return {
      errors: others.map((name) => ({
        in: 'query',
        name,
        detail: 'there is no such parameter',
        allowed: ['ids'],
      })),
    }
  const ids = parameters
    .getAll('ids')
    .flatMap((text) => text.split(','))
    .map((id) => id.trim())
    .filter((id) => id !== '')
  return { ids }
}

function toError(detail: string): InputError {
  return { in: 'query', name: 'ids', detail }
}
