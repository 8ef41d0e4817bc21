import { createHmac, randomBytes, randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import { MAX_WATCHES, type WatchBody, type WatchView } from '../../src/domain/watches/watch.ts'
import type { DeliveryQueue } from '../deliveries/delivery-queue.ts'
import { mailboxOf } from '../sellers/sessions/email-address.ts'
import { createSecret, hashSecret } from '../sellers/sessions/login-token.ts'
import { countRows } from '../store/rows.ts'
import type { Tables, WatchTable } from '../store/schema/store.ts'

/** Most watches: as many as can be notified of a release within minutes. */
const MAX_IN_ALL = 200_000
const MAX_SHOWN = 100
const DAY_MS = 86_400_000
const SECRET_PREFIX = 'whsec_'
const SECRET_BYTES = 32

/** Stores an unconfirmed watch. Null where the ledger has too many. */
export async function addWatch(
  trx: Kysely<Tables>,
  { target, events, deliver }: WatchBody,
  now: number,
): Promise<WatchTable | null> {
  const { email = null, webhook = null } = deliver
  const owner = email === null ? (webhook ?? '') : mailboxOf(email)
  if ((await countRows(trx.selectFrom('watch'))) >= MAX_IN_ALL) return null
  const watch: WatchTable = {
    ...{ id: randomUUID(), token: createSecret(), email, webhook, owner },
    ...toTarget(target),
    events: events.join(','),
    secret: webhook && SECRET_PREFIX + randomBytes(SECRET_BYTES).toString('base64'),
    ...{ state: 'waiting', reason: null, claim_id: null, created_at: now },
  }
  await trx.insertInto('watch').values(watch).execute()
  return watch
}

/**
 * Asks a mailbox whether it wants a watch: once a day, until its owner confirms one. Watches added
 * meanwhile wait behind the link of that mail, so strangers can neither flood a mailbox nor use up
 * its owner's requests.
 */
export async function askMailbox(
  trx: Kysely<Tables>,
  deliveries: DeliveryQueue,
  { id, owner, email }: WatchTable,
  now: number,
): Promise<void> {
  const asked = { key: toAskedKey(owner), window_start: now, tries: 1 }
  const isFirst = await trx
    .insertInto('attempt')
    .values(asked)
    .onConflict((conflict) =>
      conflict
        .column('key')
        .doUpdateSet(asked)
        .where('attempt.window_start', '<=', now - DAY_MS),
    )
    .returning('key')
    .executeTakeFirst()
  if (isFirst === undefined || email === null) return
  await deliveries.add(trx, email, { kind: 'watch_confirm', watch_id: id })
}

/** One row per mailbox, in the table of counted tries. It holds no address, only a hash. */
function toAskedKey(owner: string): string {
  return `watch_mail:${hashSecret(owner)}`
}

/** The next step of a watch past its mailbox's consent: its webhook's answer, or nothing. */
export async function confirmWatch(
  trx: Kysely<Tables>,
  deliveries: DeliveryQueue,
  watch: WatchTable,
): Promise<void> {
  const { id, webhook, email, owner } = watch
  if (email !== null) await trx.deleteFrom('attempt').where('key', '=', toAskedKey(owner)).execute()
  if (webhook === null) return startWatch(trx, watch)
  await setState(trx, id, 'waiting')
  await deliveries.add(trx, webhook, { kind: 'watch_challenge', watch_id: id })
}

/** Confirms the watch. Waiting ones don't count: strangers must not use up a mailbox's watches. */
export async function startWatch(db: Kysely<Tables>, { id, owner }: WatchTable): Promise<void> {
  const own = db
    .selectFrom('watch')
    .where((eb) => eb.and({ owner, claim_id: null }))
    .where('state', '<>', 'waiting')
    .where('id', '<>', id)
  if ((await countRows(own)) < MAX_WATCHES) await setState(db, id, 'live')
  else await setState(db, id, 'paused', `there are ${MAX_WATCHES} watches already: end one first`)
}

export async function setState(
  db: Kysely<Tables>,
  id: string,
  state: WatchTable['state'],
  reason: string | null = null,
): Promise<void> {
  await db.updateTable('watch').set({ state, reason }).where('id', '=', id).execute()
}

export async function endWatch(db: Kysely<Tables>, id: string): Promise<void> {
  await db.deleteFrom('watch').where('id', '=', id).execute()
}

export async function findWatch(db: Kysely<Tables>, by: 'id' | 'token', value: string) {
  return db.selectFrom('watch').selectAll().where(by, '=', value).executeTakeFirst()
}

/**
 * The watches of the mailbox that got this one's mails; for a watch without a mailbox, only itself.
 * Strangers may add waiting ones without end: confirmed ones come first.
 */
export async function listOwn(db: Kysely<Tables>, watch: WatchTable): Promise<WatchTable[]> {
  if (watch.email === null) return [watch]
  return db
    .selectFrom('watch')
    .selectAll()
    .where('email', 'is not', null)
    .where('owner', '=', watch.owner)
    .orderBy((eb) => eb.case().when('state', '=', 'waiting').then(1).else(0).end())
    .orderBy('created_at', 'desc')
    .orderBy('id')
    .limit(MAX_SHOWN)
    .execute()
}

export function toWatchView(watch: WatchTable): WatchView {
  const { id, email, webhook, state, reason } = watch
  return {
    id,
    target: targetOf(watch),
    events: watch.events.split(','),
    deliver: { ...(webhook !== null && { webhook }), ...(email !== null && { email }) },
    state,
    ...(reason !== null && { reason }),
    created_at: new Date(watch.created_at).toISOString(),
  }
}

export function targetOf({ kind, target }: Pick<WatchTable, 'kind' | 'target'>) {
  if (kind === 'listing') return { listing: target }
  return kind === 'query' ? { query: target } : { payee: target }
}

function toTarget(target: WatchBody['target']): Pick<WatchTable, 'kind' | 'target'> {
  if ('listing' in target) return { kind: 'listing', target: target.listing }
  if ('query' in target) return { kind: 'query', target: target.query }
  return { kind: 'payee', target: normalizePayout(target.payee) }
}

/** The headers of Standard Webhooks. @param at seconds since the epoch */
export function signWebhook(
  secret: string,
  { id, at, body }: { id: string; at: number; body: string },
): Record<string, string> {
  const key = Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${at}.${body}`).digest('base64')
  return {
    'webhook-id': id,
    'webhook-timestamp': String(at),
    'webhook-signature': `v1,${signature}`,
  }
}
