import { hash } from 'node:crypto'
import type { DisputeBody } from '../../src/domain/disputes/dispute.ts'
import { countRows } from '../store/rows.ts'
import type { DisputeTable, Store } from '../store/schema/store.ts'

/** Disputes that may wait: what people can look through, and a few megabytes. */
const MAX_WAITING = 1000
/** Of one listing: a crowd says no more than some of it. */
const MAX_WAITING_OF_LISTING = 20
/**
 * Disputes of one listing that may wait before its owner's are refused, too. The owner has places of
 * its own, so that strangers who fill the queue cannot stop it from disputing a verdict.
 */
const MAX_WAITING_FOR_OWNER = 2 * MAX_WAITING_OF_LISTING

export type AddedDispute = { id: string } | { full: 'queue' | 'listing' } | { unknown: 'receipt' }

/**
 * The same words about the same listing are one dispute, however often they are sent.
 *
 * @param sellerId who is signed in
 */
export async function addDispute(
  { db }: Store,
  { listing_id, reason, evidence_urls, receipt }: DisputeBody,
  now: number,
  sellerId?: string,
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
    const isOwners = receipt !== undefined && (await isOwner(trx, listing_id, sellerId))
    const full = await findFull(trx, listing_id, isOwners)
    if (full !== null) return { full }
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

/** What has no room for one more. */
async function findFull(db: Store['db'], listingId: string, isOwners: boolean) {
  const waiting = db.selectFrom('dispute').where('state', '=', 'waiting')
  const ofListing = await countRows(waiting.where('listing_id', '=', listingId))
  if (ofListing >= (isOwners ? MAX_WAITING_FOR_OWNER : MAX_WAITING_OF_LISTING)) return 'listing'
  return !isOwners && (await countRows(waiting)) >= MAX_WAITING ? 'queue' : null
}

async function isOwner(
  db: Store['db'],
  listing_id: string,
  seller_id: string | undefined,
): Promise<boolean> {
  if (seller_id === undefined) return false
  const claims = db
    .selectFrom('claim')
    .where((eb) => eb.and({ listing_id, seller_id, state: 'verified' }))
  return (await countRows(claims)) > 0
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
