import { hash, randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { RETENTION } from '../../../src/domain/wire/retention.ts'
import type { Tables } from '../../store/schema/store.ts'

export const LOGIN_TOKEN_MINUTES = RETENTION.login_token_minutes

const MINUTE_MS = 60_000
const CLOCK_SKEW_MS = MINUTE_MS

/** A fresh token for the address; whatever token it had before stops working. */
export async function issueLoginToken(db: Kysely<Tables>, email: string, now: number) {
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
 * Uses the token up. One DELETE decides: of fifty parallel redemptions one gets the row. An expired
 * token is used up too, so that a clock set back cannot revive it.
 *
 * @returns the address the link was sent to, or null
 */
export async function redeemLoginToken(trx: Kysely<Tables>, token: string, now: number) {
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

/** 256 bits: nothing to guess, so a plain hash at rest is enough. */
const SECRET_BYTES = 32

/** base64url of 32 bytes without padding. */
export const SECRET_PATTERN = /^[A-Za-z0-9_-]{43}$/

export function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret)
}
