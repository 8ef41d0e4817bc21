import { SessionBodySchema } from '../../../src/domain/views/seller-views.ts'
import { parseBody } from '../../http/parse-body.ts'
import type { Parts } from '../../parts/parts.ts'
import { redeemLoginToken } from './login-token.ts'
import { findOrCreateSeller, toSellerView } from './seller-record.ts'
import {
  createSellerRoute,
  isSecure,
  jsonAnswer,
  limitClient,
  type SellerRoute,
  sessionsOf,
  setCookies,
} from './seller-route.ts'
import { createSessions } from './session.ts'

/**
 * `POST /api/v1/sellers/session {token}`: the button of the sign-in page. Using the token up and
 * opening the session are one transaction: a crash between them leaves both or neither.
 */
export function createSessionStart(parts: Parts): SellerRoute {
  const { problem, ledger, clock } = parts
  return createSellerRoute(parts, async (event) => {
    const refused = await limitClient(parts, 'session', event)
    if (refused !== null) return refused
    const body = await parseBody(event.req, SessionBodySchema, problem)
    if ('refusal' in body) return body.refusal
    const { token } = body.output
    const started = await ledger.store.db.transaction().execute(async (trx) => {
      const email = await redeemLoginToken(trx, token, clock.now())
      if (email === null) return null
      const seller = await findOrCreateSeller(trx, email, clock.now())
      const sessions = createSessions({ db: trx, clock, isSecure: isSecure(parts) })
      // Whatever session the browser brought ends here: the new one gets a new id.
      await sessions.end(event.req.headers.get('cookie'))
      return { seller, cookies: await sessions.start(seller.id) }
    })
    if (started === null) {
      return problem('token-invalid', {
        detail: 'The link was used, has expired, or a newer one was sent. Ask for a new link.',
      })
    }
    const { seller, cookies } = started
    const view = { seller: toSellerView(seller.email, seller.created_at) }
    return setCookies(jsonAnswer(view), cookies)
  })
}

/** `DELETE /api/v1/sellers/session`: signs out; the same when nobody was signed in. */
export function createSessionEnd(parts: Parts): SellerRoute {
  const sessions = sessionsOf(parts)
  return createSellerRoute(parts, async (event) => {
    await sessions.end(event.req.headers.get('cookie'))
    const headers = { 'Cache-Control': 'no-store' }
    return setCookies(new Response(null, { status: 204, headers }), sessions.blankCookies())
  })
}
