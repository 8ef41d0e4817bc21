import { LoginBodySchema } from '../../../src/domain/views/seller-views.ts'
import { parseBody } from '../../http/parse-body.ts'
import { refusalOf } from '../../limits/rate-limits.ts'
import type { Parts } from '../../parts/parts.ts'
import { mailboxOf, parseEmailAddress } from './email-address.ts'
import {
  clientOf,
  createSellerRoute,
  jsonAnswer,
  limitClient,
  type SellerRoute,
} from './seller-route.ts'

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
    const mailbox = mailboxOf(email)
    const asker = `${clientOf(parts, event)} ${mailbox}`
    const tooMany = refusalOf(await limits.take('login_address', asker), problem)
    if (tooMany !== null) return tooMany
    if (await ledger.mail.isOverfull()) {
      return problem('mail-unavailable', {
        detail: 'Too many mails wait for the mail server. Try again in a few minutes.',
        headers: { 'Retry-After': '300' },
      })
    }
    const crowded = await refuseCrowded(parts, mailbox, asker)
    if (crowded !== null) return crowded
    await ledger.mail.add(ledger.store.db, email, { kind: 'sign_in' })
    ledger.mail.deliver().catch((error) => {
      parts.log.error('mail.queue_unreadable', { reason: String(error) })
    })
    return jsonAnswer({ status: 'sent' })
  })
}

/**
 * Past its mails of the hour a mailbox gets a spare one now and then, and only for a client that
 * sent it none: strangers cannot flood it, and cannot lock its owner out either.
 *
 * @param asker the client and the mailbox
 */
async function refuseCrowded(
  { limits, problem }: Parts,
  mailbox: string,
  asker: string,
): Promise<Response | null> {
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
