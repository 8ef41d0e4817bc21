import type { WriteMail } from '../../mail/mail-queue.ts'
import { writeClaimMail, writeSignInMail } from '../../mail/mail-texts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Store } from '../../store/schema/store.ts'
import { issueLoginToken, LOGIN_TOKEN_MINUTES } from './login-token.ts'

/**
 * The token is made here, at the moment of sending, so that no table ever holds it; every try makes
 * a new one. Links start with `BASE_URL`: the request's Host has no say.
 */
export function createMailWriter(store: Store, clock: Clock, baseUrl: string): WriteMail {
  return async (email, task) => {
    if (task.kind !== 'sign_in') return writeClaimMail(baseUrl, task)
    const token = await issueLoginToken(store.db, email, clock.now())
    return writeSignInMail(
      baseUrl,
      `${baseUrl}/sellers/sign-in?token=${token}`,
      LOGIN_TOKEN_MINUTES,
    )
  }
}
