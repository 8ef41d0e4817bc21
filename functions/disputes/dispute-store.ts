import { hash } from 'node:crypto'
import type { DisputeBody } from '../../src/domain/disputes/dispute.ts'
import { countRows } from '../store/rows.ts'
import type { DisputeTable, Store } from '../store/schema/store.ts'

/** Disputes that may wait: what people can look through, and a few megabytes. */
const MAX_WAITING = 1000
/** Of one listing: a crowd says no more than some of it. */
const MAX_WAITING_OF_LISTING = 20

export type AddedDispute = { id: string } | { full: 'queue' | 'listing' } | { unknown: 'receipt' }

/** The same words about the same listing are one dispute, however often they are sent. */
export async function addDispute(
  { db }: Store,
  { listing_id, reason, evidence_urls, receipt }: DisputeBody,
  now: number,
): Promise<AddedDispute> {
  const about = receipt === undefined ? [] : [`receipt ${receipt}`]
  const said = JSON.stringify([listing_id, reason, ...evidence_urls, ...about])
  const id = `d${hash('sha256', said).slice(0, 18)}`
  return db.transaction().execute(async (trx) => {
    if (receipt !== undefined) {
      const own = trx.selectFrom('receipt').where((eb) => eb.and({ id: receipt, listing_id }))
      if ((await countRows(own)) === 0) return { unknown: 'receipt' }
    }
    const disputes = trx.selectFrom('dispute')
    if ((await countRows(disputes.where('id', '=', id))) > 0) return { id }
    const waiting = disputes.where('state', '=', 'waiting')
    const own = waiting.where('listing_id', '=', listing_id)
    if ((await countRows(own)) >= MAX_WAITING_OF_LISTING) return { full: 'listing' }
    if ((await countRows(waiting)) >= MAX_WAITING) return { full: 'queue' }
    await trx
      .insertInto('dispute')
      .values({
        ...{ id, listing_id, reason, receipt: receipt ?? null },
        evidence_urls: JSON.stringify(evidence_urls),
        state: 'waiting',
        note: null,
        created_at: now,
        settled_at: null,
      })
      .onConflict((conflict) => conflict.column('id').doNothing())
      .execute()
    return { id }
  })
}

export async function listWaitingDisputes({ db }: Store): Promise<DisputeTable[]> {
  return db
    .selectFrom('dispute')
    .selectAll()
    .where('state', '=', 'waiting')
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** @returns false when somebody else decided it meanwhile. */
export async function settleDispute(
  { db }: Store,
  id: string,
  { state, note }: { state: 'accepted' | 'refused'; note: string },
  now: number,
): Promise<boolean> {
  const settled = await db
    .updateTable('dispute')
    .set({ state, note, settled_at: now })
    .where((eb) => eb.and({ id, state: 'waiting' }))
    .returning('id')
    .execute()
  return settled.length > 0
}
