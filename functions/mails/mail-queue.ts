import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import * as v from 'valibot'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { RETENTION } from '../../src/domain/wire/retention.ts'
import { CLAIM_METHODS } from '../../src/domain/wire/vocabulary.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import type { MailTable, Store, Tables } from '../store/store.ts'
import { countRows, createLoop } from '../store/store.ts'
import { MailRefused } from './mailer.ts'

const ofClaim = {
  listing_id: v.string(),
  host: v.string(),
  method: v.picklist(CLAIM_METHODS),
}
const reason = v.string()

/** Every mail of this service. No payload holds a secret: links are made when it is sent. */
const MailTaskSchema = v.variant('kind', [
  v.object({ kind: v.literal('sign_in') }),
  v.object({ kind: v.literal('claim_verified'), ...ofClaim }),
  v.object({ kind: v.literal('claim_superseded'), ...ofClaim }),
  v.object({ kind: v.literal('claim_failing'), ...ofClaim, reason }),
  v.object({ kind: v.literal('claim_lapsed'), ...ofClaim, reason }),
  v.object({ kind: v.literal('payout_ended'), ...ofClaim, reason }),
  /** What changed in the directory about an owned listing, a sentence each. */
  v.object({ kind: v.literal('listing_news'), listing_id: v.string(), news: v.array(v.string()) }),
])
export type MailTask = v.InferOutput<typeof MailTaskSchema>

export type MailQueue = ReturnType<typeof createMailQueue>

const HOUR_MS = 3_600_000
const KEPT_MS = RETENTION.mail_hours * HOUR_MS
/** Mails sent at once. */
const AT_ONCE = 20
/** Longer than the mail server may take: a server that died while it sent holds its mails so long. */
const LEASE_MS = 5 * 60_000
const LOOK_EVERY_MS = 10_000
const FIRST_RETRY_MS = 5_000
const LAST_RETRY_MS = 10 * 60_000
/** Anybody can have a sign-in mail sent: more than this are not sent in the time their reader waits. */
const MAX_WAITING_SIGN_INS = 5_000
const CLOSE_PATIENCE_MS = 3_000

/**
 * Mails wait in the ledger until the mail server accepts them: a request never waits for it, and a
 * crash or a mail server that is down for hours loses none. Each is tried again for a day.
 *
 * Known limit: a mail whose acceptance was not recorded is sent again. Of two sign-in mails only the
 * newer link works.
 *
 * @param send resolves once the mail is accepted. @throws MailRefused
 */
export function createMailQueue(
  { store, clock, log }: { store: Store; clock: Clock; log: Log },
  send: (address: string, task: MailTask) => Promise<void>,
) {
  const { db, dialect } = store
  // With SQLite one server holds the state, so whoever was sending a mail is dead.
  const freed =
    dialect === 'sqlite' ? db.updateTable('mail').set({ next_at: 0 }).execute() : Promise.resolve()
  freed.catch(() => {})
  const loop = createLoop(async () => {
    await freed
    for (;;) {
      const mails = await takeDue(db, clock.now())
      if (mails.length === 0) return
      await Promise.all(mails.map((mail) => sendMail({ db, clock, log }, send, mail)))
    }
  })
  const sendSoon = () => {
    loop.run().catch((error) => log.error('mail.queue_unreadable', { reason: String(error) }))
  }
  const timer = setInterval(sendSoon, LOOK_EVERY_MS)
  timer.unref()
  return {
    /**
     * Queues within the caller's transaction: the mail exists exactly if the change does. An address
     * for which a sign-in mail waits gets no second one: the one that waits is tried at once.
     */
    async add(trx: Kysely<Tables>, address: string, task: MailTask): Promise<void> {
      const { kind, ...payload } = task
      const now = clock.now()
      const id = kind === 'sign_in' ? `sign_in ${address}` : randomUUID()
      await trx
        .insertInto('mail')
        .values({
          ...{ id, kind, address, payload: JSON.stringify(payload) },
          ...{ created_at: now, next_at: now, tries: 0 },
        })
        .onConflict((conflict) =>
          conflict.column('id').doUpdateSet({ created_at: now, next_at: now }),
        )
        .execute()
    },
    /** True when so many sign-in mails wait that one more would not be sent in time. */
    async isFull(): Promise<boolean> {
      const waiting = db
        .selectFrom('mail')
        .where('kind', '=', 'sign_in')
        .where('created_at', '>', clock.now() - KEPT_MS)
      return (await countRows(waiting)) >= MAX_WAITING_SIGN_INS
    },
    /** Sends what is due, and what is added meanwhile. */
    send: loop.run,
    /** The same for callers that don't wait: failures to read the store are logged. */
    sendSoon,
    async close(): Promise<void> {
      clearInterval(timer)
      // A mail server that hangs must not delay a stop: its mails are held, and sent later.
      await Promise.race([
        Promise.allSettled([freed, loop.idle()]),
        sleep(CLOSE_PATIENCE_MS, null, { ref: false }),
      ])
    },
  }
}

/**
 * Takes mails by moving the time of their next try. The condition is judged again under the row's
 * lock, so two servers never take the same mail.
 */
async function takeDue(db: Kysely<Tables>, now: number): Promise<MailTable[]> {
  return db
    .updateTable('mail')
    .set({ next_at: now + LEASE_MS })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('mail as due')
        .select('due.id')
        .where('due.next_at', '<=', now)
        .where('due.created_at', '>', now - KEPT_MS)
        .orderBy('due.next_at')
        .limit(AT_ONCE),
    )
    .where('next_at', '<=', now)
    .returningAll()
    .execute()
}

async function sendMail(
  { db, clock, log }: { db: Kysely<Tables>; clock: Clock; log: Log },
  send: (address: string, task: MailTask) => Promise<void>,
  { id, kind, address, payload, created_at, tries }: MailTable,
): Promise<void> {
  // Asked for again while it is sent, it is another mail, and waits for its own turn.
  const same = { id, created_at }
  const tryAgain = async () => {
    const wait = Math.min(FIRST_RETRY_MS * 3 ** tries, LAST_RETRY_MS)
    const next = { next_at: clock.now() + wait, tries: tries + 1 }
    await db
      .updateTable('mail')
      .set(next)
      .where((eb) => eb.and(same))
      .execute()
  }
  const parsed = v.safeParse(MailTaskSchema, { kind, ...Object(parseJson(payload)) })
  // A newer version on another server queued it, and may take it.
  if (!parsed.success) return tryAgain()
  try {
    await send(address, parsed.output)
  } catch (error) {
    log.error('mail.not_sent', { kind, attempt: tries + 1, reason: reasonOf(error) })
    if (!(error instanceof MailRefused)) return tryAgain()
  }
  await db
    .deleteFrom('mail')
    .where((eb) => eb.and(same))
    .execute()
}

/** A mail server's text may quote the address: only its code is logged. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.name
}
