import { hash, randomBytes, randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { type Adapter, Lucia, TimeSpan } from 'lucia'
import type * as v from 'valibot'
import { LoginBodySchema, SessionBodySchema } from '../../src/domain/views/seller-views.ts'
import { MINUTE_MS } from '../../src/domain/wire/shapes.ts'
import { RETENTION } from '../../src/domain/wire/vocabulary.ts'
import type { Handler, Parts } from '../features/feature.ts'
import { countAgainst } from '../features/routes.ts'
import { jsonAnswer, refuse } from '../http/answers.ts'
import { type ObjectSchema, parseFields, readJsonBody } from '../http/parse-body.ts'
import type { Clock } from '../ports/clock.ts'
import { clientOf, type LimitName, refuseTaken } from '../server/rate-limits.ts'
import type { Tables } from '../store/store.ts'

/**
 * Signing in by an emailed link, and out.
 *
 * Security model: anybody who can read a mailbox can sign in as its seller. Links and sessions are
 * 256 random bits, stored only as a hash; a link works once, and only through a button, so that no
 * mail scanner uses it up. Known and unknown addresses get the same answer after the same steps.
 * Browsers' writes are accepted from our own pages only (`answerFromStore`); no script can read the
 * cookie, and it is sent to no other host.
 *
 * Known limitations: a stolen cookie acts as the seller until the session expires or is signed out.
 * A forwarded link signs in the first person who uses it. On plain http, as in development, the
 * cookie is not bound to the host.
 */
export function createSignInRoutes(parts: Parts) {
  return {
    login: createLogin(parts),
    session_start: createSessionStart(parts),
    session_end: createSessionEnd(parts),
  }
}

/** A call to a seller endpoint: an API request, or a form on a page with the same rights. */
export interface SellerCall {
  client: string
  cookie: string | null
  /** Values of the path's parameters. */
  params: Readonly<Record<string, string>>
  /** Reads the body when called. @throws Refusal */
  read(): Promise<unknown>
  /** Adds a `Set-Cookie` to the answer. */
  setCookie(cookie: string): void
}

type Act<Answer> = (call: SellerCall) => Promise<Answer>

/** A seller endpoint, and its action, which the seller pages also call. */
export type SellerRoute<Answer> = Handler & { readonly act: Act<Answer> }

/** @param act the action; its result is null for an answer without a body */
function createSellerRoute<Answer extends object | null>(
  parts: Parts,
  act: Act<Answer>,
): SellerRoute<Answer> {
  const route: Handler = async ({ req, context }) => {
    const cookies: string[] = []
    const answer = await act({
      client: clientOf(req, parts.config),
      cookie: req.headers.get('cookie'),
      params: context.params ?? {},
      read: () => readJsonBody(req),
      setCookie: (cookie) => void cookies.push(cookie),
    })
    const headers = { 'Cache-Control': 'no-store' }
    const response =
      answer === null ? new Response(null, { status: 204, headers }) : jsonAnswer(answer)
    for (const cookie of cookies) response.headers.append('Set-Cookie', cookie)
    return response
  }
  return Object.assign(route, { act })
}

/** A seller route that needs a session; a cookie past half its life is renewed. */
export function createSignedInRoute<Answer extends object>(
  parts: Parts,
  act: (call: SellerCall, seller: SignedIn) => Promise<Answer>,
): SellerRoute<Answer> {
  const sessions = createSessions(parts)
  return createSellerRoute(parts, async (call) => {
    const seller =
      (await sessions.read(call.cookie)) ??
      refuse('not-signed-in', {
        detail: 'Sign in first: POST your address to /api/v1/sellers/login and open the link.',
      })
    const answer = await act(call, seller)
    if (seller.renewed !== null) call.setCookie(seller.renewed)
    return answer
  })
}

/** Counts the call against one of its client's limits, then reads what was sent. */
export async function takeBody<Schema extends ObjectSchema>(
  parts: Parts,
  name: LimitName,
  call: SellerCall,
  schema: Schema,
): Promise<v.InferOutput<Schema>> {
  await countAgainst(parts, name, call.client)
  return parseFields(await call.read(), schema)
}

/**
 * `POST /api/v1/sellers/login`: queues an email with a sign-in link. Known and unknown addresses
 * take the same steps, so neither answer nor timing distinguishes them; no request waits for SMTP.
 */
function createLogin(parts: Parts) {
  const { store, mails } = parts.ledger
  return createSellerRoute(parts, async (call) => {
    const body = await takeBody(parts, 'login', call, LoginBodySchema)
    const email = parseEmailAddress(body.email) ?? refuse('invalid-parameter', BAD_ADDRESS)
    const mailbox = mailboxOf(email)
    const asker = `${call.client} ${mailbox}`
    await countAgainst(parts, 'login_address', asker)
    if (await mails.isFull())
      refuse('mail-unavailable', {
        detail: 'Too many emails are waiting to be sent. Try again in a few minutes.',
        headers: { 'Retry-After': '300' },
      })
    await refuseCrowded(parts, mailbox, asker)
    await mails.add(store.db, email, { kind: 'sign_in' })
    mails.sendSoon()
    return { status: 'sent' }
  })
}

/**
 * Beyond its hourly emails, a mailbox gets a spare email now and then, and only for a client that
 * has not caused an email yet: strangers can neither flood a mailbox nor lock its owner out.
 * @param asker the client and the mailbox
 */
async function refuseCrowded(parts: Parts, mailbox: string, asker: string): Promise<void> {
  const { limits } = parts
  const mails = await limits.take('login_mails', mailbox)
  if (!mails.allowed) {
    if (await limits.isUsedUp('login_sent', asker)) refuseTaken(mails)
    await countAgainst(parts, 'login_spare', mailbox)
  }
  await limits.take('login_sent', asker)
}

const BAD_ADDRESS = {
  detail: 'The body field "email" must be one plain address.',
  errors: [
    {
      in: 'body',
      name: 'email',
      detail: 'expected one plain ASCII address such as ann@shop.example, at most 254 characters',
    },
  ],
} as const

/**
 * `POST /api/v1/sellers/session {token}`: the button on the sign-in page. One transaction uses the
 * token up and opens the session, so a crash leaves both done or neither.
 */
function createSessionStart(parts: Parts) {
  const { ledger, clock } = parts
  return createSellerRoute(parts, async (call) => {
    const { token } = await takeBody(parts, 'session', call, SessionBodySchema)
    const started = await ledger.store.db.transaction().execute(async (trx) => {
      const email = await redeemLoginToken(trx, token, clock.now())
      // Not refused here: a refusal would roll back the deletion of the used token.
      if (email === null) return null
      const seller = await findOrCreateSeller(trx, email, clock.now())
      const sessions = createSessions(parts, trx)
      // Any session that the browser sent ends here: the new session gets a new id.
      await sessions.end(call.cookie)
      return { seller, cookie: await sessions.start(seller.id) }
    })
    if (started === null)
      refuse('token-invalid', {
        detail: 'The link was used, has expired, or a newer one was sent. Request a new link.',
      })
    const { seller, cookie } = started
    call.setCookie(cookie)
    return { seller: toSellerView(seller.email, seller.created_at) }
  })
}

/** `DELETE /api/v1/sellers/session`: signs out; the answer is the same if nobody was signed in. */
function createSessionEnd(parts: Parts) {
  const sessions = createSessions(parts)
  return createSellerRoute(parts, async (call) => {
    await sessions.end(call.cookie)
    call.setCookie(sessions.blankCookie())
    return null
  })
}

/** The seller with an email address that has just been proved; created at the first sign-in. */
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

const CLOCK_SKEW_MS = MINUTE_MS

/**
 * Uses the token up. A single DELETE decides: only one of fifty parallel redemptions gets the row.
 * An expired token is deleted too, so that setting the clock back cannot revive it.
 * @returns the address to which the link was sent, or null
 */
async function redeemLoginToken(trx: Kysely<Tables>, token: string, now: number) {
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

/** 256 bits cannot be guessed, so storing a plain hash is enough. */
const SECRET_BYTES = 32

/** base64url of 32 bytes without padding. */
export const SECRET_PATTERN = /^[A-Za-z0-9_-]{43}$/

export function createSecret(): string {
  return randomBytes(SECRET_BYTES).toString('base64url')
}

export function hashSecret(secret: string): string {
  return hash('sha256', secret)
}

interface SignedIn extends SellerAttributes {
  id: string
  /** `Set-Cookie` if the session was extended, otherwise null. */
  renewed: string | null
}

export const isSecure = ({ config }: Pick<Parts, 'config'>) => config.BASE_URL.startsWith('https:')

/**
 * Sellers' sessions, by lucia, which only this file uses. Lucia's session id is the secret itself
 * and its clock is the machine's, so the adapter below stores only the id's SHA-256 and translates
 * between our clock and lucia's.
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
    getUserAttributes: ({ email, createdAt, wantsMails }) => ({ email, createdAt, wantsMails }),
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
    /** The seller signed in by a `Cookie` header; a cookie past half its life is renewed. */
    read: async (header: string | null): Promise<SignedIn | null> => {
      const id = readId(header)
      if (id === null) return null
      const { session, user } = await lucia.validateSession(id)
      if (session === null) return null
      return { ...user, renewed: session.fresh ? cookieOf(id) : null }
    },
    end: async (header: string | null) => {
      const id = readId(header)
      if (id !== null) await lucia.invalidateSession(id)
    },
    blankCookie: () => lucia.createBlankSessionCookie().serialize(),
  }
}

/** Lucia passes the cookie's secret as the id: it is stored as a hash, and lucia gets the secret back. */
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
        .select('seller.mails_off_at')
        .where('session.id_hash', '=', hashSecret(id))
        .executeTakeFirst()
      if (row === undefined) return [null, null]
      const expiresAt = toLuciaTime(row.expires_at)
      const session = { id, userId: row.id, expiresAt, attributes: {} }
      const { email, created_at: createdAt } = row
      const attributes = { email, createdAt, wantsMails: row.mails_off_at === null }
      return [session, { id: row.id, attributes }]
    },
    // Nothing here lists sessions, or ends more than one; retention deletes expired sessions.
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

interface SellerAttributes {
  email: string
  createdAt: number
  /** Whether the seller wants emails about changes to their listings. */
  wantsMails: boolean
}

declare module 'lucia' {
  interface Register {
    DatabaseUserAttributes: SellerAttributes
    Lucia: Lucia<Record<never, never>, SellerAttributes>
  }
}

/** Longest `Cookie` header that is parsed: more than any browser sends for one cookie. */
const MAX_HEADER_LENGTH = 8_192

/**
 * The value of one cookie. Null if the cookie is absent or comes twice: a neighbouring host plants
 * a cookie by sending a second one of the same name (RFC 6265 §8.6). Values are not decoded: ours
 * need no decoding, and lucia's own parser throws on `%zz` in any other cookie.
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

/** RFC 5321 §4.5.3.1: octets of the local part, of the whole address, and of a DNS label. */
const MAX_LOCAL = 64
const MAX_ADDRESS = 254
const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/

/**
 * A dot-atom without `%` and `!` (old ways to route through another host) and without `?`, `` ` ``, `|`,
 * `$`, `*`, `{`, `}`, `^`, `#`, which no real mailbox needs and encoded words contain.
 */
const LOCAL = /^[a-z0-9_+'=&/~-]+(?:\.[a-z0-9_+'=&/~-]+)*$/

/**
 * One plain ASCII address in lower case, or null. Every other form (comments, quotes, lists, IP literals,
 * domains in other letters) is refused: two parsers that read an address differently can send a link to a
 * stranger (CVE-2022-35924).
 *
 * @example parseEmailAddress('Ann@Shop.example') → 'ann@shop.example'
 */
export function parseEmailAddress(text: string): string | null {
  // Checked before lower-casing: the Kelvin sign and similar characters would become ASCII letters.
  if (text.length > MAX_ADDRESS || !/^[\x21-\x7e]+$/.test(text)) return null
  const lower = text.toLowerCase()
  const parts = lower.split('@')
  const [local = '', domain = ''] = parts
  if (parts.length !== 2 || local.length > MAX_LOCAL || !LOCAL.test(local)) return null
  const labels = domain.split('.')
  const top = labels.at(-1) ?? ''
  if (labels.length < 2 || !labels.every((label) => LABEL.test(label))) return null
  return /^\d+$/.test(top) ? null : lower
}

/**
 * The mailbox of a lower-case address: text after a plus is the owner's own tag, and Gmail ignores dots
 * (https://support.google.com/mail/answer/7436150).
 * @example mailboxOf('ann+shop@mail.example') → 'ann@mail.example'
 * @example mailboxOf('a.nn@googlemail.com') → 'ann@gmail.com'
 */
function mailboxOf(address: string): string {
  const [local = '', domain = ''] = address.split('@')
  const name = local.replace(/(?<=.)\+.*/, '')
  return GMAIL.has(domain) ? `${name.replaceAll('.', '')}@gmail.com` : `${name}@${domain}`
}

const GMAIL = new Set(['gmail.com', 'googlemail.com'])
