import type { Kysely } from 'kysely'
import { RETENTION } from '../../../src/domain/wire/retention.ts'
import type { Tables } from '../../store/schema/tables.ts'
import { createSecret, hashSecret, SECRET_PATTERN } from './secret.ts'

export const LOGIN_TOKEN_MINUTES = RETENTION.login_token_minutes

const MINUTE_MS = 60_000
/** Instances' clocks may differ by this much. */
const CLOCK_SKEW_MS = MINUTE_MS

/** A fresh token for the address; whatever token it had before stops working. */
export async function issueLoginToken(
  db: Kysely<Tables>,
  email: string,
  now: number,
): Promise<string> {
  const token = createSecret()
  const row = {
    token_hash: hashSecret(token),
    created_at: now,
    expires_at: now + LOGIN_TOKEN_MINUTES * MINUTE_MS,
  }
  await db
    .insertInto('login_token')
    .values({ email, ...row })
    .onConflict((conflict) => conflict.column('email').doUpdateSet(row))
    .execute()
  return token
}

/**
 * Uses the token up. One DELETE decides: of fifty parallel redemptions one gets the row. A token out
 * of its time is used up too, so that a clock set back cannot revive it.
 *
 * @returns the address the link was sent to, or null
 */
export async function redeemLoginToken(
  trx: Kysely<Tables>,
  token: string,
  now: number,
): Promise<string | null> {
  if (!SECRET_PATTERN.test(token)) return null
  const row = await trx
    .deleteFrom('login_token')
    .where('token_hash', '=', hashSecret(token))
    .returning(['email', 'created_at', 'expires_at'])
    .executeTakeFirst()
  if (row === undefined) return null
  const isInTime = row.created_at <= now + CLOCK_SKEW_MS && now < row.expires_at
  return isInTime ? row.email : null
}
