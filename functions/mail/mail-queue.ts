import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import * as v from 'valibot'
import { RETENTION } from '../../src/domain/wire/retention.ts'
import { CLAIM_METHODS } from '../../src/domain/wire/vocabulary.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { type Mail, type Mailer, MailRefused } from '../ports/mailer.ts'
import type { Store } from '../store/schema/store.ts'
import type { MailJobTable, Tables } from '../store/schema/tables.ts'

/**
 * Mails wait in the store until they are handed over: a request never waits for SMTP, and a crash
 * or a mail server that is down for hours loses none. A job is leased by one instance at a time.
 *
 * Known limit: a mail whose acknowledgement is lost on the way is sent again. Of two sign-in mails
 * only the newer link works.
 */
export interface MailQueue {
  /** Queues within the caller's transaction: the mail exists exactly if the change does. */
  add(trx: Kysely<Tables>, email: string, task: MailTask): Promise<void>
  /** True when so many mails wait that taking more would be a promise nobody keeps. */
  isOverfull(): Promise<boolean>
  /** Starts delivering what is due. Resolves when nothing more is due. */
  deliver(): Promise<void>
  close(): Promise<void>
}

/** Makes the mail at the moment of sending. Null when there is nothing to say any more. */
export type WriteMail = (email: string, task: MailTask) => Promise<Omit<Mail, 'to'> | null>

const MINUTE_MS = 60_000
const LOOK_EVERY_MS = 5_000
const LEASE_MS = 2 * MINUTE_MS
const AT_ONCE = 3
const CLOSE_PATIENCE_MS = 3_000
const MAX_WAITING = 5_000
/** A sign-in mail that comes later than this is of no use; news of a claim is. */
const LIFETIME_MS = { sign_in: 60 * MINUTE_MS, claim: RETENTION.mail_days * 24 * 60 * MINUTE_MS }
const RETRY_MS = [5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS]

export interface MailQueueParts {
  store: Store
  mailer: Mailer
  clock: Clock
  log: Log
  writeMail: WriteMail
}

export function createMailQueue(parts: MailQueueParts): MailQueue {
  const { store, clock, log } = parts
  let delivering: Promise<void> | null = null
  let isPoked = false
  const deliver = () => {
    isPoked = true
    delivering ??= run()
    return delivering
  }
  // A job added while the last look was under way must not wait for the timer; one that comes after
  // the last look begins the next one, so it ends in the same step.
  const run = async () => {
    try {
      while (isPoked) {
        isPoked = false
        await deliverDue(parts)
      }
    } finally {
      delivering = null
    }
  }
  const timer = setInterval(() => {
    deliver().catch((error) => log.error('mail.queue_unreadable', { reason: String(error) }))
  }, LOOK_EVERY_MS)
  timer.unref()
  return {
    add: (trx, email, task) => insertJob(trx, email, task, clock.now()),
    isOverfull: async () => {
      const { waiting } = await store.db
        .selectFrom('mail_job')
        .select(({ fn }) => fn.countAll<number>().as('waiting'))
        .executeTakeFirstOrThrow()
      return waiting >= MAX_WAITING
    },
    deliver,
    close: async () => {
      clearInterval(timer)
      // A mail server that hangs must not hold up a stop: its mails are leased, and sent later.
      await Promise.race([
        delivering?.catch(() => {}),
        sleep(CLOSE_PATIENCE_MS, null, { ref: false }),
      ])
    },
  }
}

async function insertJob(
  trx: Kysely<Tables>,
  email: string,
  { kind, ...payload }: MailTask,
  now: number,
): Promise<void> {
  const lifetime = kind === 'sign_in' ? LIFETIME_MS.sign_in : LIFETIME_MS.claim
  await trx
    .insertInto('mail_job')
    .values({
      id: randomUUID(),
      kind,
      email,
      payload: JSON.stringify(payload),
      created_at: now,
      expires_at: now + lifetime,
      not_before: now,
      lease_until: 0,
      attempts: 0,
    })
    .execute()
}

async function deliverDue(parts: MailQueueParts): Promise<void> {
  for (;;) {
    const jobs = await leaseJobs(parts.store, parts.clock.now())
    if (jobs.length === 0) return
    jobs.sort((a, b) => a.created_at - b.created_at)
    const byAddress = Map.groupBy(jobs, ({ email }) => email)
    await Promise.all([...byAddress.values()].map((own) => deliverInTurn(parts, own)))
  }
}

/** Of two sign-in mails to one address, the later must carry the token that works. */
async function deliverInTurn(parts: MailQueueParts, jobs: MailJobTable[]): Promise<void> {
  for (const job of jobs) await deliverJob(parts, job)
}

/** The outer conditions are judged again under the row's lock, so two instances never share a job. */
async function leaseJobs({ db }: Store, now: number): Promise<MailJobTable[]> {
  return db
    .updateTable('mail_job')
    .set({ lease_until: now + LEASE_MS })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('mail_job as due')
        .select('due.id')
        .where('due.lease_until', '<=', now)
        .where('due.not_before', '<=', now)
        .where('due.expires_at', '>', now)
        .orderBy('due.not_before')
        .limit(AT_ONCE),
    )
    .where('lease_until', '<=', now)
    .returningAll()
    .execute()
}

async function deliverJob(parts: MailQueueParts, job: MailJobTable): Promise<void> {
  const { store, mailer, clock, log, writeMail } = parts
  try {
    const task = v.parse(MailTaskSchema, { kind: job.kind, ...parseObject(job.payload) })
    const mail = await writeMail(job.email, task)
    if (mail !== null) await mailer.send({ ...mail, to: job.email })
  } catch (error) {
    const reason = reasonOf(error)
    log.error('mail.not_sent', { kind: job.kind, attempt: job.attempts + 1, reason })
    if (!(error instanceof MailRefused)) return putBack(store, job, clock.now())
  }
  await store.db.deleteFrom('mail_job').where('id', '=', job.id).execute()
}

async function putBack({ db }: Store, { id, attempts }: MailJobTable, now: number): Promise<void> {
  const wait = RETRY_MS[Math.min(attempts, RETRY_MS.length - 1)] ?? MINUTE_MS
  await db
    .updateTable('mail_job')
    .set({ lease_until: 0, not_before: now + wait, attempts: attempts + 1 })
    .where('id', '=', id)
    .execute()
}

function parseObject(text: string): object {
  const value: unknown = JSON.parse(text)
  return typeof value === 'object' && value !== null ? value : {}
}

/** An SMTP server's text may quote the address: only its code goes to the log. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.name
}

const claimPayload = v.object({
  listing_id: v.string(),
  host: v.string(),
  method: v.picklist(CLAIM_METHODS),
})

/**
 * Every mail the service sends, with what its text is made from. No payload holds a secret: a
 * sign-in link is made at the moment of sending.
 */
const MailTaskSchema = v.variant('kind', [
  v.object({ kind: v.literal('sign_in') }),
  v.object({ kind: v.literal('claim_verified'), ...claimPayload.entries }),
  v.object({ kind: v.literal('claim_superseded'), ...claimPayload.entries }),
  v.object({ kind: v.literal('claim_failing'), ...claimPayload.entries, reason: v.string() }),
  v.object({ kind: v.literal('claim_lapsed'), ...claimPayload.entries, reason: v.string() }),
  v.object({ kind: v.literal('payout_ended'), ...claimPayload.entries, reason: v.string() }),
])

type MailTask = v.InferOutput<typeof MailTaskSchema>
export type ClaimMailTask = Exclude<MailTask, { kind: 'sign_in' }>
