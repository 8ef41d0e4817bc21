import type { H3Event } from 'h3'
import { listingPath } from '../../src/domain/wire/links.ts'
import { findAllowedMethods } from '../http/allowed-methods.ts'
import { answerPreflight, refuseMethod } from '../http/method-answers.ts'
import type { Parts } from '../parts/parts.ts'
import { findGone, toGoneProblem } from '../release/gone.ts'

const LISTING_PREFIX = listingPath('')

/** Whatever no route and no file answered: 405 with `Allow` where the path exists, else 404. */
export function createFallback({ problem, release }: Pick<Parts, 'problem' | 'release'>) {
  return function fallback({ req, url }: H3Event): Response {
    const allowed = findAllowedMethods(url.pathname)
    if (req.method === 'OPTIONS' && allowed.length > 0)
      return answerPreflight(url.pathname, allowed)
    if (allowed.length > 0 && !allowed.includes(req.method))
      return refuseMethod(req.method, allowed, problem)
    const gone = findGone(release(), url.pathname)
    if (gone !== null) return toGoneProblem(gone, problem)
    if (url.pathname.startsWith(LISTING_PREFIX))
      return problem('listing-not-found', {
        detail:
          'No listing has this id. Ids look like x402.example or mcp.example; search for it by name.',
      })
    return problem('not-found', {
      detail: 'Nothing answers at this path. /openapi.json lists every endpoint.',
    })
  }
}
