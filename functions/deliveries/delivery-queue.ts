import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import * as v from 'valibot'
import { ChangeSchema } from '../../src/domain/changes/change-log.ts'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import { RETENTION } from '../../src/domain/wire/retention.ts'
import { CLAIM_METHODS } from '../../src/domain/wire/vocabulary.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { DeliveryRefused } from '../ports/mailer.ts'
import type { Store } from '../store/schema/store.ts'
import type { DeliveryTable, Tables } from '../store/schema/tables.ts'

/**
 * Mails and webhooks wait in the store until they are handed over: a request never waits for another
 * server, and a crash or a server that is down for hours loses none. A delivery is leased by one
 * instance at a time, together with what else goes to the same mailbox or host.
 *
 * Known limit: what was handed over when the acknowledgement was lost is sent again. A webhook has
 * the same `webhook-id` then; of two sign-in mails only the newer link works.
 */
export interface DeliveryQueue {
  /** Queues within the caller's transaction: the delivery exists exactly if the change does. */
  add(trx: Kysely<Tables>, address: string, task: DeliveryTask): Promise<void>
  addAll(trx: Kysely<Tables>, jobs: readonly Addressed[]): Promise<void>
  /** True when so many that strangers asked for wait that taking more would be a promise nobody keeps. */
  isOverfull(): Promise<boolean>
  /** Starts delivering what is due. Resolves when nothing more is due. */
  deliver(): Promise<void>
  close(): Promise<void>
}

export interface Addressed {
  /** An email address, or a webhook's URL. */
  address: string
  task: DeliveryTask
}

export interface Delivery extends Addressed {
  /** The same in every try. */
  id: string
  createdAt: number
}

export interface DeliveryQueueParts {
  store: Store
  clock: Clock
  log: Log
  /** Resolves once it is taken, or when there is nothing to say any more. @throws DeliveryRefused */
  send: Record<Channel, (delivery: Delivery) => Promise<void>>
  /** Told of one that nobody takes. @returns what is to be delivered instead */
  giveUp(trx: Kysely<Tables>, delivery: Delivery, reason: string): Promise<readonly Addressed[]>
}

type Channel = keyof typeof CHANNELS

/** Lanes under way at once, and deliveries under way in one: a mailbox gets its mails in their order. */
const CHANNELS = { mail: { lanes: 20, ofLane: 1 }, webhook: { lanes: 48, ofLane: 4 } } as const
const MINUTE_MS = 60_000
const LOOK_EVERY_MS = 5_000
const LEASE_MS = 5 * MINUTE_MS
/** Lanes and deliveries that one look takes. */
const LEASED = { lanes: 64, jobs: 200 }
const INSERTED_AT_ONCE = 500
/** What is done is written down together, so that ten thousand deliveries are not as many commits. */
const WRITE_AFTER_MS = 20
const CLOSE_PATIENCE_MS = 3_000
const MAX_WAITING = 5_000
/** What anybody can make this service send. */
const OF_STRANGERS = ['sign_in', 'watch_confirm', 'watch_challenge']
const RETRY_MS = [5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS]
const HOUR_MS = 60 * MINUTE_MS

/** A sign-in mail that comes an hour later is of no use; news of a claim is. */
function lifetimeOf({ kind }: DeliveryTask): number {
  if (OF_STRANGERS.includes(kind)) return HOUR_MS
  return kind === 'watch_news' ? 24 * HOUR_MS : RETENTION.mail_days * 24 * HOUR_MS
}

export function createDeliveryQueue(parts: DeliveryQueueParts): DeliveryQueue {
  const { store, clock, log } = parts
  const mails = createLoop(() => deliverDue(parts, 'mail'))
  const webhooks = createLoop(() => deliverDue(parts, 'webhook'))
  // With SQLite one server holds the state, so a lease that is there belongs to a dead process.
  const freed =
    store.dialect === 'sqlite'
      ? store.db.updateTable('delivery').set({ lease_until: 0 }).execute()
      : Promise.resolve()
  const deliver = async () => {
    await freed
    await Promise.all([mails.run(), webhooks.run()])
  }
  const timer = setInterval(() => {
    deliver().catch((error) => log.error('delivery.queue_unreadable', { reason: String(error) }))
  }, LOOK_EVERY_MS)
  timer.unref()
  freed.catch(() => {})
  return {
    add: (trx, address, task) => insertJobs(trx, [{ address, task }], clock.now()),
    addAll: (trx, jobs) => insertJobs(trx, jobs, clock.now()),
    isOverfull: async () => {
      const { waiting } = await store.db
        .selectFrom('delivery')
        .select(({ fn }) => fn.countAll<number>().as('waiting'))
        .where('kind', 'in', OF_STRANGERS)
        .executeTakeFirstOrThrow()
      return Number(waiting) >= MAX_WAITING
    },
    deliver,
    close: async () => {
      clearInterval(timer)
      // A server that hangs must not hold up a stop: what goes to it is leased, and sent later.
      const idle = Promise.allSettled([freed, mails.idle(), webhooks.idle()])
      await Promise.race([idle, sleep(CLOSE_PATIENCE_MS, null, { ref: false })])
    },
  }
}

/**
 * Runs once more when it was asked to while it ran. A job added while the last look was under way must
 * not wait for the timer; one that comes after it begins the next, so it ends in the same step.
 */
function createLoop(work: () => Promise<void>) {
  let running: Promise<void> | null = null
  let isPoked = false
  const loop = async () => {
    try {
      while (isPoked) {
        isPoked = false
        await work()
      }
    } finally {
      running = null
    }
  }
  return {
    run: () => {
      isPoked = true
      running ??= loop()
      return running
    },
    idle: async () => running,
  }
}

async function insertJobs(
  trx: Kysely<Tables>,
  jobs: readonly Addressed[],
  now: number,
): Promise<void> {
  for (let at = 0; at < jobs.length; at += INSERTED_AT_ONCE) {
    const rows = jobs.slice(at, at + INSERTED_AT_ONCE).map(({ address, task }): DeliveryTable => {
      const { kind, ...payload } = task
      const channel: Channel = address.includes('://') ? 'webhook' : 'mail'
      return {
        ...{ id: randomUUID(), kind, channel, address },
        lane: channel === 'webhook' ? new URL(address).host : address,
        payload: JSON.stringify(payload),
        created_at: now,
        expires_at: now + lifetimeOf(task),
        not_before: now,
        lease_until: 0,
        attempts: 0,
      }
    })
    await trx.insertInto('delivery').values(rows).execute()
  }
}

type Jobs = readonly DeliveryTable[]

async function deliverDue(parts: DeliveryQueueParts, channel: Channel): Promise<void> {
  const finish = createFinisher(parts)
  const leased: Jobs[] = []
  let leasing: Promise<void> | null = null
  const lease = async () => {
    let jobs = await leaseJobs(parts.store, channel, parts.clock.now())
    // A lane is free again once what it did is written down.
    if (jobs.length === 0 && (await finish.done()))
      jobs = await leaseJobs(parts.store, channel, parts.clock.now())
    leased.push(...Map.groupBy(jobs, ({ lane }) => lane).values())
    leasing = null
  }
  const next = async () => {
    if (leased.length === 0) {
      leasing ??= lease()
      await leasing
    }
    return leased.shift()
  }
  const work = async () => {
    for (let jobs = await next(); jobs !== undefined; jobs = await next())
      await deliverLane(parts, channel, jobs, finish)
  }
  await Promise.all(Array.from({ length: CHANNELS[channel].lanes }, work))
  await finish.done()
}

/** The outer conditions are judged again under the row's lock, so two instances never share a job. */
async function leaseJobs({ db }: Store, channel: Channel, now: number): Promise<DeliveryTable[]> {
  const due = db
    .selectFrom('delivery as due')
    .where('due.channel', '=', channel)
    .where('due.lease_until', '<=', now)
    .where('due.not_before', '<=', now)
    .where('due.expires_at', '>', now)
  const lanes = due
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('delivery as busy')
            .select('busy.id')
            .whereRef('busy.lane', '=', 'due.lane')
            .where('busy.lease_until', '>', now),
        ),
      ),
    )
    .select('due.lane')
    .groupBy('due.lane')
    // Who waits to sign in waits for no news.
    .orderBy(sql`min(case when due.kind = 'watch_news' then 1 else 0 end)`)
    .orderBy(({ fn }) => fn.min('due.not_before'))
    .limit(LEASED.lanes)
  const taken = await db
    .updateTable('delivery')
    .set({ lease_until: now + LEASE_MS })
    .where('id', 'in', () =>
      due
        .where('due.lane', 'in', lanes)
        .select('due.id')
        .orderBy('due.not_before')
        .limit(LEASED.jobs),
    )
    .where('lease_until', '<=', now)
    .returningAll()
    .execute()
  return taken.sort((a, b) => a.created_at - b.created_at)
}

/** What fails once is not tried with the rest of the lane: a dead host costs one deadline. */
async function deliverLane(
  parts: DeliveryQueueParts,
  channel: Channel,
  jobs: Jobs,
  finish: Finish,
): Promise<void> {
  const waiting = [...jobs]
  let isFailing = false
  const work = async () => {
    for (let job = waiting.shift(); job !== undefined; job = waiting.shift()) {
      const outcome = isFailing ? 'failed' : await tryJob(parts, channel, job)
      isFailing ||= outcome === 'failed'
      finish.add({ job, outcome })
    }
  }
  await Promise.all(Array.from({ length: CHANNELS[channel].ofLane }, work))
}

async function tryJob(
  { clock, log, send, store, giveUp }: DeliveryQueueParts,
  channel: Channel,
  job: DeliveryTable,
): Promise<'done' | 'failed'> {
  const { id, kind, address, attempts } = job
  const parsed = v.safeParse(TaskSchema, { kind, ...Object(parseJson(job.payload)) })
  // A newer version on another server queued it, and may take it.
  if (!parsed.success) return 'failed'
  const delivery = { id, address, task: parsed.output, createdAt: job.created_at }
  try {
    await send[channel](delivery)
    return 'done'
  } catch (error) {
    const reason = reasonOf(error)
    log.error(`${channel}.not_sent`, { kind, attempt: attempts + 1, reason })
    const isOver = clock.now() + waitAfter(attempts) >= job.expires_at
    if (!(error instanceof DeliveryRefused) && !isOver) return 'failed'
    const said = error instanceof DeliveryRefused ? error.message : `nobody took it (${reason})`
    await store.db.transaction().execute(async (trx) => {
      await insertJobs(trx, await giveUp(trx, delivery, said), clock.now())
    })
    return 'done'
  }
}

function waitAfter(attempts: number): number {
  return RETRY_MS[Math.min(attempts, RETRY_MS.length - 1)] ?? HOUR_MS
}

type Finished = { job: DeliveryTable; outcome: 'done' | 'failed' }
type Finish = ReturnType<typeof createFinisher>

/** Writes down what became of deliveries, those of a moment in one go. Nobody waits for it but the end. */
function createFinisher({ store: { db }, clock }: DeliveryQueueParts) {
  let waiting: Finished[] = []
  let writing: Promise<void> = Promise.resolve()
  let underWay = 0
  const write = async () => {
    await sleep(WRITE_AFTER_MS)
    const all = waiting
    waiting = []
    const { done = [], failed = [] } = Object.groupBy(all, ({ outcome }) => outcome)
    const idsOf = (some: readonly Finished[]) => some.map(({ job }) => job.id)
    if (done.length > 0) await db.deleteFrom('delivery').where('id', 'in', idsOf(done)).execute()
    for (const [attempts, some] of Map.groupBy(failed, ({ job }) => job.attempts))
      await db
        .updateTable('delivery')
        .set({
          lease_until: 0,
          not_before: clock.now() + waitAfter(attempts),
          attempts: attempts + 1,
        })
        .where('id', 'in', idsOf(some))
        .execute()
    underWay -= 1
  }
  return {
    add(finished: Finished): void {
      waiting.push(finished)
      if (waiting.length > 1) return
      underWay += 1
      writing = writing.then(write)
      // Whoever waits for the end hears of it.
      writing.catch(() => {})
    },
    /** @returns false where nothing was under way */
    async done(): Promise<boolean> {
      const isBusy = underWay > 0
      await writing
      return isBusy
    },
  }
}

/** A mail server's text may quote the address: only its code goes to the log. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.name
}

const claimPayload = v.object({
  listing_id: v.string(),
  host: v.string(),
  method: v.picklist(CLAIM_METHODS),
})
const reason = v.string()

/**
 * Everything the service delivers, with what its text is made from. No payload holds a secret: a link
 * and a signature are made at the moment of sending.
 */
const TaskSchema = v.variant('kind', [
  v.object({ kind: v.literal('sign_in') }),
  v.object({ kind: v.literal('claim_verified'), ...claimPayload.entries }),
  v.object({ kind: v.literal('claim_superseded'), ...claimPayload.entries }),
  v.object({ kind: v.literal('claim_failing'), ...claimPayload.entries, reason }),
  v.object({ kind: v.literal('claim_lapsed'), ...claimPayload.entries, reason }),
  v.object({ kind: v.literal('payout_ended'), ...claimPayload.entries, reason }),
  v.object({ kind: v.literal('watch_confirm'), watch_id: v.string() }),
  v.object({ kind: v.literal('watch_challenge'), watch_id: v.string() }),
  v.object({ kind: v.literal('watch_paused'), watch_id: v.string(), reason }),
  v.object({
    kind: v.literal('watch_news'),
    watch_id: v.string(),
    changes: v.array(ChangeSchema),
    /** Changes beyond those. */
    more: v.number(),
  }),
])

export type DeliveryTask = v.InferOutput<typeof TaskSchema>
export type ClaimMailTask = Extract<DeliveryTask, { listing_id: string }>
export type WatchTask = Extract<DeliveryTask, { watch_id: string }>
