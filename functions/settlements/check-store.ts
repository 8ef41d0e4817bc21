import { hash } from 'node:crypto'
import type { CallTimes, Settlement } from '../../src/domain/settlement/settlement.ts'
import { keyOf, type SettlementClaim } from '../../src/domain/settlement/settlement-claim.ts'
import type { SettlementCheckTable, Store } from '../store/schema/store.ts'
import { toSettlementRow } from './settlement-rows.ts'

/** The queue's rows. Nothing of a payment header is kept but payer, amount and nonce. */

const LEASE_MS = 120_000
/** Checks that wait at most; a seller that invents settlements must not fill the disk. */
const MAX_WAITING = 20_000
const MAX_WAITING_A_LISTING = 2_000

export interface NewCheck extends CallTimes {
  claim: SettlementClaim
  payouts: readonly string[]
}

/** @returns false when so many wait already that this one is dropped. */
export async function insertCheck(
  { db }: Store,
  listingId: string,
  { claim, payouts, startedAt, endedAt }: NewCheck,
): Promise<boolean> {
  const { network, transaction } = claim
  const { all, own } = await db
    .selectFrom('settlement_check')
    .where('state', '=', 'waiting')
    .select(({ fn, eb }) => [
      fn.countAll<number>().as('all'),
      fn.count<number>(eb.case().when('listing_id', '=', listingId).then(1).end()).as('own'),
    ])
    .executeTakeFirstOrThrow()
  if (Number(all) >= MAX_WAITING || Number(own) >= MAX_WAITING_A_LISTING) return false
  await db
    .insertInto('settlement_check')
    .values({
      id: toCheckId(listingId, claim),
      listing_id: listingId,
      claim: JSON.stringify(claim),
      payouts: JSON.stringify(payouts),
      // What is claimed, apart from what is said of it; a batch may settle several authorisations.
      payment: [network, transaction, ...(claim.family === 'evm' ? [keyOf(claim)] : [])].join(' '),
      called_at: startedAt,
      answered_at: endedAt,
      state: 'waiting',
      reason: null,
      created_at: endedAt,
      not_before: endedAt,
      lease_until: 0,
      attempts: 0,
    })
    // The same word twice is one check.
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  return true
}

/** The outer condition is judged again under the row's lock: two instances never share a check. */
export async function leaseChecks({ db }: Store, now: number, limit: number) {
  return db
    .updateTable('settlement_check')
    .set({ lease_until: now + LEASE_MS })
    .where('id', 'in', (eb) =>
      eb
        .selectFrom('settlement_check as due')
        .select('due.id')
        .where('due.state', 'in', ['waiting', 'counted'])
        .where('due.lease_until', '<=', now)
        .where('due.not_before', '<=', now)
        .orderBy('due.not_before')
        .limit(limit),
    )
    .where('lease_until', '<=', now)
    .returningAll()
    .execute()
}

export async function updateCheck(
  { db }: Store,
  id: string,
  change: Partial<Pick<SettlementCheckTable, 'state' | 'reason' | 'not_before' | 'attempts'>>,
): Promise<void> {
  await db
    .updateTable('settlement_check')
    .set({ ...change, lease_until: 0 })
    .where('id', '=', id)
    .execute()
}

/** Whether a claim on the same payment was queued before this one and has not been looked up yet. */
export async function hasEarlierClaim(
  { db }: Store,
  { id, payment, created_at }: SettlementCheckTable,
): Promise<boolean> {
  const earlier = await db
    .selectFrom('settlement_check')
    .select('id')
    .where((eb) => eb.and({ payment, state: 'waiting' }))
    .where(({ and, or, eb }) =>
      or([
        eb('created_at', '<', created_at),
        and([eb('created_at', '=', created_at), eb('id', '<', id)]),
      ]),
    )
    .limit(1)
    .execute()
  return earlier.length > 0
}

/** @returns false when this transfer has been counted before, for whichever listing. */
export async function insertSettlement({ db }: Store, settlement: Settlement): Promise<boolean> {
  const inserted = await db
    .insertInto('settlement')
    .values(toSettlementRow(settlement, 'relay'))
    // What only the meter saw so far was this call's.
    .onConflict((conflict) =>
      conflict
        .columns(['network', 'transaction_id', 'log_index'])
        .doUpdateSet({ listing_id: settlement.listing_id, seen_by: 'both' })
        .where('settlement.seen_by', '=', 'meter'),
    )
    .returning('listing_id')
    .execute()
  return inserted.length > 0
}

/** The whole claim: one that names a wrong amount must not take the place of the right one. */
function toCheckId(listingId: string, claim: SettlementClaim): string {
  return hash('sha256', JSON.stringify([listingId, Object.entries(claim).sort()]), 'base64url')
}
