import type { Kysely } from 'kysely'
import { type Adapter, Lucia, TimeSpan } from 'lucia'
import { RETENTION } from '../../../src/domain/wire/retention.ts'
import type { Parts } from '../../parts/parts.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Tables } from '../../store/schema/store.ts'
import { createSecret, hashSecret, SECRET_PATTERN } from './login-token.ts'

export interface SignedIn {
  sellerId: string
  email: string
  createdAt: number
  /** `Set-Cookie` of a session whose time was extended; else null. */
  renewed: string | null
}

export const isSecure = ({ config }: Pick<Parts, 'config'>) => config.BASE_URL.startsWith('https:')

/**
 * Sessions of sellers: lucia behind this one file. Its session id is the secret itself and its clock
 * is the machine's, so the adapter below stores only the id's SHA-256 and translates between our
 * clock and lucia's.
 *
 * @param db the surrounding transaction, if any
 */
export function createSessions(
  { config, ledger, clock }: Pick<Parts, 'config' | 'ledger' | 'clock'>,
  db: Kysely<Tables> = ledger.store.db,
) {
  const secure = isSecure({ config })
  // RFC 6265bis: the prefix binds the cookie to this host; browsers keep it on https only.
  const name = secure ? '__Host-session' : 'session'
  // Sliding: a session used in its second half gets its full time again.
  const lucia = new Lucia(createAdapter(db, clock), {
    sessionExpiresIn: new TimeSpan(RETENTION.session_days, 'd'),
    sessionCookie: { name, attributes: { secure, sameSite: 'lax', path: '/' } },
    getUserAttributes: ({ email, createdAt }) => ({ email, createdAt }),
  })
  const cookieOf = (id: string) => lucia.createSessionCookie(id).serialize()
  const readId = (header: string | null) => {
    const value = readCookie(header, name)
    return value !== null && SECRET_PATTERN.test(value) ? value : null
  }
  return {
    /** A new session under a new id. @returns the `Set-Cookie` value */
    start: async (sellerId: string) => {
      const session = await lucia.createSession(sellerId, {}, { sessionId: createSecret() })
      return cookieOf(session.id)
    },
    /** The signed-in seller of a `Cookie` header; a cookie past half its life is renewed. */
    read: async (header: string | null): Promise<SignedIn | null> => {
      const id = readId(header)
      if (id === null) return null
      const { session, user } = await lucia.validateSession(id)
      if (session === null) return null
      const renewed = session.fresh ? cookieOf(id) : null
      return { sellerId: user.id, email: user.email, createdAt: user.createdAt, renewed }
    },
    end: async (header: string | null) => {
      const id = readId(header)
      if (id !== null) await lucia.invalidateSession(id)
    },
    blankCookie: () => lucia.createBlankSessionCookie().serialize(),
  }
}

/** Ids come in as the cookie's secret and are hashed here; lucia gets the secret back. */
function createAdapter(db: Kysely<Tables>, clock: Clock): Adapter {
  const toLuciaTime = (moment: number) => new Date(moment - clock.now() + Date.now())
  const unused = () => Promise.reject(new Error('expected one session by its id'))
  const toOurTime = (date: Date) => date.getTime() - Date.now() + clock.now()
  return {
    getSessionAndUser: async (id) => {
      const row = await db
        .selectFrom('session')
        .innerJoin('seller', 'seller.id', 'session.seller_id')
        .select(['session.expires_at', 'seller.id', 'seller.email', 'seller.created_at'])
        .where('session.id_hash', '=', hashSecret(id))
        .executeTakeFirst()
      if (row === undefined) return [null, null]
      const expiresAt = toLuciaTime(row.expires_at)
      const session = { id, userId: row.id, expiresAt, attributes: {} }
      const { email, created_at: createdAt } = row
      return [session, { id: row.id, attributes: { email, createdAt } }]
    },
    // Nothing here lists sessions, or ends more than one; retention deletes those past their time.
    getUserSessions: unused,
    deleteUserSessions: unused,
    deleteExpiredSessions: unused,
    setSession: async ({ id, userId, expiresAt }) => {
      await db
        .insertInto('session')
        .values({
          id_hash: hashSecret(id),
          seller_id: userId,
          created_at: clock.now(),
          expires_at: toOurTime(expiresAt),
        })
        .execute()
    },
    updateSessionExpiration: async (id, expiresAt) => {
      await db
        .updateTable('session')
        .set({ expires_at: toOurTime(expiresAt) })
        .where('id_hash', '=', hashSecret(id))
        .execute()
    },
    deleteSession: async (id) => {
      await db.deleteFrom('session').where('id_hash', '=', hashSecret(id)).execute()
    },
  }
}

declare module 'lucia' {
  interface Register {
    DatabaseUserAttributes: { email: string; createdAt: number }
    Lucia: Lucia<Record<never, never>, { email: string; createdAt: number }>
  }
}

/** More than any browser sends for one cookie; parsing longer headers helps nobody. */
const MAX_HEADER_LENGTH = 8_192

/**
 * The value of one cookie. Null when it is absent, and also when it comes twice: a second cookie of
 * the same name is how a neighbouring host plants one (RFC 6265 §8.6). No decoding: our values need
 * none, and lucia's own parser throws on `%zz` in somebody else's cookie.
 *
 * @example readCookie('a=1; session=x', 'session') → 'x'
 */
export function readCookie(header: string | null, name: string): string | null {
  if (header === null || header.length > MAX_HEADER_LENGTH) return null
  const prefix = `${name}=`
  const values = header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair.startsWith(prefix))
    .map((pair) => pair.slice(prefix.length))
  return values.length === 1 ? (values[0] ?? null) : null
}
