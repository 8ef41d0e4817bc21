import { setImmediate as settle, setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import * as v from 'valibot'
import { parseJson } from '../../src/domain/wire/parse-json.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import { DeliveryRefused } from '../ports/mailer.ts'
import type { DeliveryTable, Store, Tables } from '../store/schema/store.ts'
import { type Addressed, type Delivery, insertJobs, TaskSchema } from './delivery-task.ts'
import { leaseDeliveries, type Places } from './lease-deliveries.ts'

export interface DeliverParts {
  store: Store
  clock: Clock
  log: Log
  /** Resolves once it is accepted, or has become unnecessary. @throws DeliveryRefused */
  send: Record<Channel, (delivery: Delivery) => Promise<void>>
  /** Called for one that nobody accepts. @returns what to deliver instead */
  giveUp(trx: Kysely<Tables>, delivery: Delivery, reason: string): Promise<readonly Addressed[]>
}

export type Channel = keyof typeof CHANNELS

/**
 * Slots for deliveries: overall, and for one host. A delivery without an answer after `placeMs`
 * waits on without its slot, so hosts that never answer delay nobody. That and the sender's
 * deadline bound the number of open deliveries: 32 places, each free again after 0.5 s, and
 * webhooks that may take 10 s are 640 connections at most.
 */
const CHANNELS = {
  mail: { places: 20, ofHost: 20, placeMs: 60_000 },
  webhook: { places: 32, ofHost: 16, placeMs: 500 },
} as const
const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
/** Outcomes are written in groups, so that ten thousand deliveries are not as many commits. */
const WRITE_AFTER_MS = 20
/** While deliveries are in flight others are added, and become due. */
const LOOK_AGAIN_MS = 1_000
const RETRY_MS = [5_000, 15_000, MINUTE_MS, 5 * MINUTE_MS, 15 * MINUTE_MS, 60 * MINUTE_MS]

/** Delivers everything due on a channel, including deliveries added meanwhile. */
export async function deliverDue(parts: DeliverParts, channel: Channel): Promise<void> {
  const { store, clock } = parts
  const places = createPlaces(channel)
  const finish = createFinisher(parts)
  const open = new Set<string>()
  let failure: unknown = null
  let wake = () => {}
  const deliver = async (job: DeliveryTable) => {
    open.add(job.id)
    const release = places.take(job.host)
    const leave = () => {
      release()
      wake()
    }
    const timer = setTimeout(leave, CHANNELS[channel].placeMs)
    try {
      await finish({ job, outcome: await tryJob(parts, channel, job) })
    } catch (error) {
      failure ??= error
    }
    clearTimeout(timer)
    open.delete(job.id)
    leave()
  }
  for (;;) {
    const { promise: woken, resolve } = Promise.withResolvers<void>()
    wake = resolve
    const leased =
      failure === null ? await leaseDeliveries(store, channel, clock.now(), places) : []
    // A clock that jumps ends leases: deliveries in flight are not sent a second time.
    for (const job of leased) if (!open.has(job.id)) void deliver(job)
    if (open.size === 0) break
    await Promise.race([woken, sleep(LOOK_AGAIN_MS, null, { ref: false })])
    // Deliveries that end together cause one look at the queue.
    await settle()
  }
  if (failure !== null) throw failure
}

function createPlaces(channel: Channel): Places & { take(host: string): () => void } {
  const { places, ofHost } = CHANNELS[channel]
  const byHost = new Map<string, number>()
  let taken = 0
  const count = (host: string, by: number) => {
    taken += by
    byHost.set(host, (byHost.get(host) ?? 0) + by)
  }
  return {
    ofHost,
    free: () => places - taken,
    fullHosts: () => [...byHost].flatMap(([host, held]) => (held >= ofHost ? [host] : [])),
    /** @returns a function that frees the slot; a second call does nothing */
    take(host) {
      let isHeld = true
      count(host, 1)
      return () => {
        if (isHeld) count(host, -1)
        isHeld = false
      }
    },
  }
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
  const delivery = { id, address, attempts, task: parsed.output, createdAt: job.created_at }
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

/** Records the outcomes of deliveries, those of one moment together. @returns when it is written */
function createFinisher({ store: { db }, clock }: DeliverParts) {
  let batch: { all: Finished[]; written: Promise<void> } | null = null
  const write = async (all: readonly Finished[]) => {
    await sleep(WRITE_AFTER_MS)
    batch = null
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
  return (finished: Finished): Promise<void> => {
    if (batch === null) {
      const all: Finished[] = []
      batch = { all, written: write(all) }
    }
    batch.all.push(finished)
    return batch.written
  }
}

/** A mail server's text may quote the address: only its code is logged. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'unknown'
  return 'code' in error ? String(error.code) : error.name
}
