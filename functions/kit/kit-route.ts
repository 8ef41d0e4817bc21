import { toCompactKit } from '../../src/domain/kit/compact-kit.ts'
import type { KitView } from '../../src/domain/kit/kit-view.ts'
import { kitPath } from '../../src/domain/wire/links.ts'
import { RAILS, SEARCH_VIEWS } from '../../src/domain/wire/vocabulary.ts'
import { findNameErrors, toQueryError } from '../http/answers.ts'
import { createCountedGet } from '../parts/counted-get.ts'
import type { Handler, Parts } from '../parts/parts.ts'
import { readBuilt, toUnknownText } from '../release/release.ts'

const NAMES = ['view', 'operation', 'rail']

/**
 * `GET /api/v1/listings/<id>/kit.json?view=compact`, which `operation` and `rail` mean too: they
 * choose one of a compact kit. Without a query it is a file.
 */
export function createKit(
  parts: Pick<Parts, 'problem' | 'release' | 'limits' | 'config'>,
): Handler {
  const { problem, release } = parts
  return createCountedGet(parts, async (query, { context }) => {
    const asked = readQuery(query)
    if ('problems' in asked) return asked
    const { listing_id: id = '' } = context.params ?? {}
    // Only ids of the release reach its files: an id is never part of another address.
    const isListed = release().listings.has(id)
    const whole = isListed ? await readBuilt<KitView>(release(), kitPath(id)) : null
    if (whole === null)
      return problem('listing-not-found', { detail: toUnknownText(release(), id) })
    const view = asked.view === 'compact' ? toCompactKit(whole, asked) : whole
    if (view !== null) return { view }
    const detail = `unknown operation; the listing has ${whole.operations.length + whole.tools.length + whole.skills.length}, counted from 0, and others names them`
    return { problems: [toQueryError('operation', detail)] }
  })
}

function readQuery(query: string) {
  const parameters = new URLSearchParams(query)
  const rail = parameters.get('rail')
  const chooses = rail !== null || parameters.has('operation')
  const view = parameters.get('view') ?? (chooses ? 'compact' : 'full')
  const known = RAILS.find((each) => each === rail)
  const problems = findNameErrors(parameters, NAMES)
  if (!SEARCH_VIEWS.some((each) => each === view))
    problems.push(toQueryError('view', 'expected full or compact', SEARCH_VIEWS))
  if (rail !== null && known === undefined)
    problems.push(toQueryError('rail', 'expected x402 or mpp', RAILS))
  if (view === 'full' && chooses)
    problems.push(
      toQueryError('view', 'operation and rail choose one of a compact kit; leave view=full out'),
    )
  if (problems.length > 0) return { problems }
  return { view, operation: parameters.get('operation') ?? undefined, rail: known }
}
