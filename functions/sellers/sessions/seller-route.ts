import type { H3Event } from 'h3'
import type * as v from 'valibot'
import { type ObjectSchema, parseBody } from '../../http/parse-body.ts'
import { clientOf } from '../../limits/client-key.ts'
import type { LimitName } from '../../limits/counter.ts'
import { refusalOf } from '../../limits/rate-limits.ts'
import type { Parts } from '../../parts/parts.ts'
import { withPatience } from '../../store/schema/patience.ts'
import { isStoreUnavailable } from '../../store/schema/store-error.ts'
import { createSessions, type SignedIn } from './session.ts'

type Answer = (event: H3Event) => Promise<Response>
/** A route that needs the store, as the route table says. */
export type SellerRoute = Answer & { readonly needsStore: true }

/**
 * Shared by all seller routes: no writes from other sites, and a store that is down is a 503, never
 * a 500. Authorisation is done here, in the handler, not in a path-matching middleware.
 */
export function createSellerRoute(parts: Parts, answer: Answer): SellerRoute {
  const route: Answer = async (event) => {
    const { method, headers } = event.req
    const isWrite = method !== 'GET' && method !== 'HEAD'
    if (isWrite && isCrossSite((name) => headers.get(name), parts.config.BASE_URL)) {
      return parts.problem('cross-site', {
        detail: `Send this request from ${parts.config.BASE_URL} itself, or from a client that is not a browser.`,
      })
    }
    try {
      return await withPatience(() => answer(event))
    } catch (error) {
      if (!isStoreUnavailable(error)) throw error
      parts.log.error('store.unavailable', { reason: String(error) })
      return parts.problem('store-unavailable', {
        detail:
          'The store did not answer in time, so what was sent may not be stored. Try again in a few minutes.',
        headers: { 'Retry-After': '30' },
      })
    }
  }
  return Object.assign(route, { needsStore: true as const })
}

/** A seller route that needs a session; a cookie in its second half of life is renewed. */
export function createSignedInRoute(
  parts: Parts,
  answer: (event: H3Event, seller: SignedIn) => Promise<Response>,
): SellerRoute {
  const sessions = createSessions(parts)
  return createSellerRoute(parts, async (event) => {
    const seller = await sessions.read(event.req.headers.get('cookie'))
    if (seller === null)
      return parts.problem('not-signed-in', {
        detail: 'Sign in first: POST your address to /api/v1/sellers/login and open the link.',
      })
    const answered = await answer(event, seller)
    return seller.renewed === null ? answered : setCookie(answered, seller.renewed)
  })
}

/** Counts the request against a limit of its client, then reads its body. */
export async function takeBody<Schema extends ObjectSchema>(
  { config, limits, problem }: Parts,
  name: LimitName,
  { req }: H3Event,
  schema: Schema,
): Promise<{ output: v.InferOutput<Schema> } | { refusal: Response }> {
  const refusal = refusalOf(await limits.take(name, clientOf(req, config)), problem)
  return refusal === null ? parseBody(req, schema, problem) : { refusal }
}

export function setCookie(response: Response, cookie: string): Response {
  response.headers.append('Set-Cookie', cookie)
  return response
}

/**
 * CSRF: a browser sends its origin with every write. `Sec-Fetch-Site` decides if present, else the
 * whole `Origin`; a write with neither comes from no browser, and then no victim's cookie is on it.
 */
export function isCrossSite(read: (header: string) => string | null | undefined, baseUrl: string) {
  const site = read('sec-fetch-site')
  if (site != null) return site !== 'same-origin' && site !== 'none'
  return (read('origin') ?? baseUrl) !== baseUrl
}
