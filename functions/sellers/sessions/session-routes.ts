import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { LoginBodySchema, SessionBodySchema } from '../../../src/domain/views/seller-views.ts'
import { jsonAnswer } from '../../http/problem.ts'
import { clientOf } from '../../limits/client-key.ts'
import { refusalOf } from '../../limits/rate-limits.ts'
import type { Parts } from '../../parts/parts.ts'
import type { Tables } from '../../store/schema/store.ts'
import { mailboxOf, parseEmailAddress } from './email-address.ts'
import { redeemLoginToken } from './login-token.ts'
import { createSellerRoute, type SellerRoute, setCookie, takeBody } from './seller-route.ts'
import { createSessions } from './session.ts'

/**
 * `POST /api/v1/sellers/session {token}`: the button of the sign-in page. Using the token up and
 * opening the session are one transaction: a crash between them leaves both or neither.
 */
export function createSessionStart(parts: Parts): SellerRoute {
  const { problem, ledger, clock } = parts
  return createSellerRoute(parts, async (event) => {
    const body = await takeBody(parts, 'session', event, SessionBodySchema)
    if ('refusal' in body) return body.refusal
    const { token } = body.output
    const started = await ledger.store.db.transaction().execute(async (trx) => {
      const email = await redeemLoginToken(trx, token, clock.now())
      if (email === null) return null
      const seller = await findOrCreateSeller(trx, email, clock.now())
      const sessions = createSessions(parts, trx)
      // Any session the browser sent ends here: the new one gets a new id.
      await sessions.end(event.req.headers.get('cookie'))
      return { seller, cookie: await sessions.start(seller.id) }
    })
    if (started === null) {
      return problem('token-invalid', {
        detail: 'The link was used, has expired, or a newer one was sent. Ask for a new link.',
      })
    }
    const { seller, cookie } = started
    const view = { seller: toSellerView(seller.email, seller.created_at) }
    return setCookie(jsonAnswer(view), cookie)
  })
}

/** `DELETE /api/v1/sellers/session`: signs out; the same when nobody was signed in. */
export function createSessionEnd(parts: Parts): SellerRoute {
  const sessions = createSessions(parts)
  return createSellerRoute(parts, async (event) => {
    await sessions.end(event.req.headers.get('cookie'))
    const headers = { 'Cache-Control': 'no-store' }
    return setCookie(new Response(null, { status: 204, headers }), sessions.blankCookie())
  })
}

/**
 * `POST /api/v1/sellers/login`: queues a mail with a sign-in link. Known and unknown addresses take
 * the same steps, so neither answer nor timing distinguishes them; no request waits for SMTP.
 */
export function createLogin(parts: Parts): SellerRoute {
  const { problem, ledger, limits } = parts
  return createSellerRoute(parts, async (event) => {
    const body = await takeBody(parts, 'login', event, LoginBodySchema)
    if ('refusal' in body) return body.refusal
    const email = parseEmailAddress(body.output.email)
    if (email === null) return problem('invalid-parameter', BAD_ADDRESS)
    const mailbox = mailboxOf(email)
    const asker = `${clientOf(event.req, parts.config)} ${mailbox}`
    const tooMany = refusalOf(await limits.take('login_address', asker), problem)
    if (tooMany !== null) return tooMany
    if (await ledger.mails.isFull()) {
      return problem('mail-unavailable', {
        detail: 'Too many mails wait for the mail server. Try again in a few minutes.',
        headers: { 'Retry-After': '300' },
      })
    }
    const crowded = await refuseCrowded(parts, mailbox, asker)
    if (crowded !== null) return crowded
    await ledger.mails.add(ledger.store.db, email, { kind: 'sign_in' })
    ledger.mails.sendSoon()
    return jsonAnswer({ status: 'sent' })
  })
}

/**
 * Beyond its mails per hour a mailbox gets a spare one now and then, and only for a client that
 * sent it none: strangers can neither flood it nor lock its owner out.
 *
 * @param asker the client and the mailbox
 */
async function refuseCrowded({ limits, problem }: Parts, mailbox: string, asker: string) {
  const mails = await limits.take('login_mails', mailbox)
  if (!mails.allowed) {
    const hadOne = await limits.isUsedUp('login_sent', asker)
    const refused = refusalOf(hadOne ? mails : await limits.take('login_spare', mailbox), problem)
    if (refused !== null) return refused
  }
  await limits.take('login_sent', asker)
  return null
}

const BAD_ADDRESS = {
  detail: 'The body field email is not one plain address.',
  errors: [
    {
      in: 'body',
      name: 'email',
      detail: 'expected one plain ASCII address such as ann@shop.example, at most 254 characters',
    },
  ],
} as const

/** The seller of an address that has just been proved; created at the first sign-in. */
async function findOrCreateSeller(trx: Kysely<Tables>, email: string, now: number) {
  await trx
    .insertInto('seller')
    .values({ id: randomUUID(), email, created_at: now })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .execute()
  return trx.selectFrom('seller').selectAll().where('email', '=', email).executeTakeFirstOrThrow()
}

export function toSellerView(email: string, createdAt: number) {
  return { email, created_at: new Date(createdAt).toISOString() }
}
