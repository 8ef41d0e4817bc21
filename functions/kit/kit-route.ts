import type { H3Event } from 'h3'
import { toCompactKit } from '../../src/domain/kit/compact-kit.ts'
import type { KitView } from '../../src/domain/kit/kit-view.ts'
import { kitPath } from '../../src/domain/wire/links.ts'
import { RAILS, SEARCH_VIEWS } from '../../src/domain/wire/vocabulary.ts'
import { splitTarget } from '../http/find-request-fault.ts'
import { findNameErrors, refuseParameters, toQueryError } from '../http/problem.ts'
import { clientOf } from '../limits/client-key.ts'
import { refusalOf } from '../limits/rate-limits.ts'
import type { Handler, Parts } from '../parts/parts.ts'
import { readBuilt } from '../release/release.ts'

const HEADERS = {
  'Access-Control-Allow-Origin': '*',
  'Cache-Control': 'public, max-age=60',
  'X-Content-Type-Options': 'nosniff',
} as const

const NAMES = ['view', 'operation', 'rail']

/** `GET /api/v1/listings/<id>/kit.json?view=compact`; without a query it is a file. */
export function createKit({
  problem,
  release,
  limits,
  config,
}: Pick<Parts, 'problem' | 'release' | 'limits' | 'config'>): Handler {
  return async function kit({ req, context }: H3Event) {
    const taken = await limits.take('search', clientOf(req, config))
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refusal
    const asked = readQuery(splitTarget(req.url).query)
    if ('errors' in asked) return refuseParameters(problem, asked.errors)
    const { listing_id: id = '' } = context.params ?? {}
    // Only ids of the release reach its files: an id is never part of another address.
    const isListed = release().listings.has(id)
    const whole = isListed ? await readBuilt<KitView>(release(), kitPath(id)) : null
    if (whole === null)
      return problem('listing-not-found', { detail: 'No listing has this id. Search for it.' })
    const view = asked.view === 'compact' ? toCompactKit(whole, asked) : whole
    if (view === null) {
      const detail = `there is no such operation; the listing has ${whole.operations.length + whole.tools.length + whole.skills.length}, counted from 0, and others names them`
      return refuseParameters(problem, [toQueryError('operation', detail)])
    }
    return Response.json(view, { headers: { ...HEADERS, ...taken.headers } })
  }
}

function readQuery(query: string) {
  const parameters = new URLSearchParams(query)
  const view = parameters.get('view') ?? 'full'
  const rail = parameters.get('rail')
  const known = RAILS.find((each) => each === rail)
  const errors = findNameErrors(parameters, NAMES)
  if (!SEARCH_VIEWS.some((each) => each === view))
    errors.push(toQueryError('view', 'expected full or compact', SEARCH_VIEWS))
  if (rail !== null && known === undefined)
    errors.push(toQueryError('rail', 'expected x402 or mpp', RAILS))
  if (view !== 'compact' && (parameters.has('operation') || rail !== null))
    errors.push(
      toQueryError('view', 'operation and rail choose one of a compact kit; say view=compact'),
    )
  if (errors.length > 0) return { errors }
  return { view, operation: parameters.get('operation') ?? undefined, rail: known }
}
