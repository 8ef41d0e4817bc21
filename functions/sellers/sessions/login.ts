import { LoginBodySchema } from '../../../src/domain/views/seller-views.ts'
import { parseBody } from '../../http/parse-body.ts'
import { refusalOf } from '../../limits/rate-limits.ts'
import type { Parts } from '../../parts/parts.ts'
import { parseEmailAddress } from './email-address.ts'
import { createSellerRoute, jsonAnswer, limitClient, type SellerRoute } from './seller-route.ts'

/**
 * `POST /api/v1/sellers/login`: queues a mail with a sign-in link. Known and unknown addresses take
 * the same steps, so neither answer nor timing tells them apart; SMTP is never waited for.
 */
export function createLogin(parts: Parts): SellerRoute {
  const { problem, ledger, limits } = parts
  return createSellerRoute(parts, async (event) => {
    const refused = await limitClient(parts, 'login', event)
    if (refused !== null) return refused
    const body = await parseBody(event.req, LoginBodySchema, problem)
    if ('refusal' in body) return body.refusal
    const email = parseEmailAddress(body.output.email)
    if (email === null) return problem('invalid-parameter', BAD_ADDRESS)
    const tooMany = refusalOf(await limits.take('login_address', email), problem)
    if (tooMany !== null) return tooMany
    if (await ledger.mail.isOverfull()) {
      return problem('mail-unavailable', {
        detail: 'Too many mails wait for the mail server. Try again in a few minutes.',
        headers: { 'Retry-After': '300' },
      })
    }
    await ledger.mail.add(ledger.store.db, email, { kind: 'sign_in' })
    ledger.mail.deliver().catch((error) => {
      parts.log.error('mail.queue_unreadable', { reason: String(error) })
    })
    return jsonAnswer({ status: 'sent' })
  })
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
