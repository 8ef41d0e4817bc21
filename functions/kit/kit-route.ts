import type { H3Event } from 'h3'
import { toCompactKit } from '../../src/domain/kit/compact-kit.ts'
import type { KitView } from '../../src/domain/kit/kit-view.ts'
import { kitPath } from '../../src/domain/wire/links.ts'
import { RAILS, SEARCH_VIEWS } from '../../src/domain/wire/vocabulary.ts'
import { splitTarget } from '../http/find-request-fault.ts'
import type { InputError } from '../http/problem.ts'
import { clientKey } from '../limits/client-key.ts'
import { refusalOf } from '../limits/rate-limits.ts'
import type { Handler } from '../parts/handler.ts'
import type { Parts } from '../parts/parts.ts'

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
    const client = clientKey(req.ip, req.headers.get('x-forwarded-for'), config.TRUST_PROXY)
    const taken = await limits.take('search', client)
    const refusal = refusalOf(taken, problem)
    if (refusal !== null) return refusal
    const refuse = (errors: readonly InputError[]) =>
      problem('invalid-parameter', {
        detail: errors.map(({ name, detail }) => `${name}: ${detail}`).join('; '),
        errors,
      })
    const asked = readQuery(splitTarget(req.url).query)
    if ('errors' in asked) return refuse(asked.errors)
    const { listing_id: id = '' } = context.params ?? {}
    // Only ids of the release reach its files: an id is never part of another address.
    const bytes = release().listings.has(id) ? await release().files.read(kitPath(id)) : null
    if (bytes === null)
      return problem('listing-not-found', { detail: 'No listing has this id. Search for it.' })
    // Typed `any` by `JSON.parse`: the build wrote these bytes.
    const whole: KitView = JSON.parse(bytes.toString('utf8'))
    const view = asked.view === 'compact' ? toCompactKit(whole, asked) : whole
    if (view === null) {
      const detail = `there is no such operation; the listing has ${whole.operations.length + whole.tools.length + whole.skills.length}, counted from 0, and others names them`
      return refuse([{ in: 'query', name: 'operation', detail }])
    }
    return Response.json(view, { headers: { ...HEADERS, ...taken.headers } })
  }
}

function readQuery(query: string) {
  const parameters = new URLSearchParams(query)
  const view = parameters.get('view') ?? 'full'
  const rail = parameters.get('rail')
  const known = RAILS.find((each) => each === rail)
  const errors: InputError[] = []
  const refuse = (name: string, detail: string, allowed?: readonly string[]) =>
    errors.push({ in: 'query', name, detail, ...(allowed && { allowed }) })
  for (const name of new Set(parameters.keys()))
    if (!NAMES.includes(name)) refuse(name, 'there is no such parameter', NAMES)
    else if (parameters.getAll(name).length > 1) refuse(name, 'given more than once')
  if (!SEARCH_VIEWS.some((each) => each === view))
    refuse('view', 'expected full or compact', SEARCH_VIEWS)
  if (rail !== null && known === undefined) refuse('rail', 'expected x402 or mpp', RAILS)
  if (view !== 'compact' && (parameters.has('operation') || rail !== null))
    refuse('view', 'operation and rail choose one of a compact kit; say view=compact')
  if (errors.length > 0) return { errors }
  return { view, operation: parameters.get('operation') ?? undefined, rail: known }
}
