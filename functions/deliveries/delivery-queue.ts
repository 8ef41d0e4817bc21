import { setTimeout as sleep } from 'node:timers/promises'
import type { Kysely } from 'kysely'
import { countRows } from '../store/rows.ts'
import type { Tables } from '../store/schema/store.ts'
import { createLoop } from '../store/work-loop.ts'
import { type Channel, type DeliverParts, deliverDue } from './deliver-due.ts'
import { type Addressed, type DeliveryTask, insertJobs, UNTRUSTED_TASKS } from './delivery-task.ts'

export type DeliveryQueue = ReturnType<typeof createDeliveryQueue>

const LOOK_EVERY_MS = 5_000
const CLOSE_PATIENCE_MS = 3_000
const MAX_WAITING = 5_000

/**
 * Mails and webhooks wait in the store until they are delivered: a request never waits for another
 * server, and a crash or a server that is down for hours loses none. The deliveries of a watch or a
 * mailbox are leased by one instance at a time.
 *
 * Known limit: a delivery whose acknowledgement was lost is sent again. A webhook has the same
 * `webhook-id` then; of two sign-in mails only the newer link works.
 */
export function createDeliveryQueue(parts: DeliverParts) {
  const { store, clock, log } = parts
  const mails = createLoop(() => deliverDue(parts, 'mail'))
  const webhooks = createLoop(() => deliverDue(parts, 'webhook'))
  // With SQLite one server holds the state, so an existing lease belongs to a dead process.
  const freed =
    store.dialect === 'sqlite'
      ? store.db.updateTable('delivery').set({ lease_until: 0 }).execute()
      : Promise.resolve()
  const deliver = async () => {
    await freed
    await Promise.all([mails.run(), webhooks.run()])
  }
  const deliverSoon = () => {
    deliver().catch((error) => log.error('delivery.queue_unreadable', { reason: String(error) }))
  }
  const timer = setInterval(deliverSoon, LOOK_EVERY_MS)
  timer.unref()
  freed.catch(() => {})
  return {
    /** Queues within the caller's transaction: the delivery exists exactly if the change does. */
    add: (trx: Kysely<Tables>, address: string, task: DeliveryTask) =>
      insertJobs(trx, [{ address, task }], clock.now()),
    addAll: (trx: Kysely<Tables>, jobs: readonly Addressed[]) => insertJobs(trx, jobs, clock.now()),
    /** True when the backlog that strangers caused is too long to send one more in time. */
    isOverfull: async (channel: Channel) => {
      const waiting = store.db
        .selectFrom('delivery')
        .where('channel', '=', channel)
        .where('kind', 'in', UNTRUSTED_TASKS)
      return (await countRows(waiting)) >= MAX_WAITING
    },
    /** Starts delivering what is due. Resolves when nothing more is due. */
    deliver,
    /** The same for callers that don't wait: failures to read the store are logged. */
    deliverSoon,
    close: async () => {
      clearInterval(timer)
      // A server that hangs must not delay a stop: its deliveries are leased, and sent later.
      const idle = Promise.allSettled([freed, mails.idle(), webhooks.idle()])
      await Promise.race([idle, sleep(CLOSE_PATIENCE_MS, null, { ref: false })])
    },
  }
}
