import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import * as v from 'valibot'
import { ChangeSchema } from '../../src/domain/changes/change-log.ts'
import { RETENTION } from '../../src/domain/wire/retention.ts'
import { CLAIM_METHODS } from '../../src/domain/wire/vocabulary.ts'
import { inPieces } from '../store/rows.ts'
import type { DeliveryTable, Tables } from '../store/schema/store.ts'

export interface Addressed {
  /** An email address, or a webhook's URL. */
  address: string
  task: DeliveryTask
}

export interface Delivery extends Addressed {
  /** The same in every try. */
  id: string
  /** Tries before this one. */
  attempts: number
  createdAt: number
}

const claimPayload = v.object({
  listing_id: v.string(),
  host: v.string(),
  method: v.picklist(CLAIM_METHODS),
})
const reason = v.string()

/** Everything delivered. No payload holds a secret: links and signatures are made on sending. */
export const TaskSchema = v.variant('kind', [
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

const HOUR_MS = 3_600_000
/** Kinds that anybody can make this service send. */
export const UNTRUSTED_TASKS = ['sign_in', 'watch_confirm', 'watch_challenge']

/** A sign-in mail that comes an hour later is of no use; news of a claim is. */
function lifetimeOf({ kind }: DeliveryTask): number {
  if (UNTRUSTED_TASKS.includes(kind)) return HOUR_MS
  return kind === 'watch_news' ? 24 * HOUR_MS : RETENTION.mail_days * 24 * HOUR_MS
}

/** Queues within the caller's transaction. */
export async function insertJobs(trx: Kysely<Tables>, jobs: readonly Addressed[], now: number) {
  for (const some of inPieces(jobs)) {
    const rows = some.map(({ address, task }): DeliveryTable => {
      const { kind, ...payload } = task
      const channel = address.includes('://') ? 'webhook' : 'mail'
      return {
        ...{ id: randomUUID(), kind, channel, address },
        lane: 'watch_id' in task ? task.watch_id : address,
        host: channel === 'webhook' ? new URL(address).host : address.replace(/^.*@/, ''),
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
