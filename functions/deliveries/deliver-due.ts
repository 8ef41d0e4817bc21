import { setTimeout as sleep } from 'node:timers/promises'
import { type Kysely, sql } from 'kysely'
import * as v from 'valibot'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { DeliveryRefused } from '../ports/mailer.ts'
import type { DeliveryTable, Store, Tables } from '../store/schema/store.ts'
import { type Addressed, type Delivery, insertJobs, TaskSchema } from './delivery-task.ts'

export interface DeliverParts {
  store: Store
  clock: Clock
  log: Log
  /** Resolves once it is taken, or when there is nothing to say any more. @throws DeliveryRefused */
  send: Record<Channel, (delivery: Delivery) => Promise<void>>
  /** Told of one that nobody takes. @returns what is to be delivered instead */
  giveUp(trx: Kysely<Tables>, delivery: Delivery, reason: string): Promise<readonly Addressed[]>
}

export type Channel = keyof typeof CHANNELS

/** Lanes under way at once, and deliveries under way in one: a mailbox gets its mails in their order. */
const CHANNELS = { mail: { lanes: 20, ofLane: 1 }, webhook: { lanes: 48, ofLane: 4 } } as const
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const LEASE_MS = 5 * MINUTE_MS
/** Lanes and deliveries that one look takes. */
const LEASED = { lanes: 64, jobs: 200 }
/** What is done is written down together, so that ten thousand deliveries are not as many commits. */
const WRITE_AFTER_MS = 20
const RETRY_MS = [5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS]

type Jobs = readonly DeliveryTable[]

/** Delivers all that is due on a channel; what is added meanwhile too. */
export async function deliverDue(parts: DeliverParts, channel: Channel): Promise<void> {
  const finish = createFinisher(parts)
  const leased: Jobs[] = []
  let leasing: Promise<void> | null = null
  const lease = async () => {
    // Once it is written down what was done, its lanes are free, and a clock that jumps sends nothing twice.
    await finish.done()
    const jobs = await leaseJobs(parts.store, channel, parts.clock.now())
    for (const lane of Map.groupBy(jobs, (job) => job.lane).values()) leased.push(lane)
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
async function deliverLane(parts: DeliverParts, channel: Channel, jobs: Jobs, finish: Finish) {
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
  { clock, log, send, store, giveUp }: DeliverParts,
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
function createFinisher({ store: { db }, clock }: DeliverParts) {
  let waiting: Finished[] = []
  let writing: Promise<void> = Promise.resolve()
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
  }
  return {
    add(finished: Finished): void {
      waiting.push(finished)
      if (waiting.length > 1) return
      writing = writing.then(write)
      // Tells those who wait for the end.
      writing.catch(() => {})
    },
    done: () => writing,
  }
}

/** A mail server's text may quote the address: only its code goes to the log. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.name
}
