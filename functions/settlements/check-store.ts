import { createHash } from 'node:crypto'
import type { Settlement, Transfer } from '../../src/domain/trust/settlement.ts'
import type { SettlementClaim } from '../../src/domain/trust/settlement-claim.ts'
import type { Store } from '../store/schema/store.ts'
import type { SettlementCheckTable } from '../store/schema/tables.ts'

/** The queue's rows. Nothing of a payment header is kept but payer, amount and nonce. */

const LEASE_MS = 120_000
/** Checks that wait at most; a seller that invents settlements must not fill the disk. */
const MAX_WAITING = 20_000
const MAX_WAITING_A_LISTING = 2_000

/** @returns false when so many wait already that this one is dropped. */
export async function insertCheck(
  { db }: Store,
  listingId: string,
  claim: SettlementClaim,
  payouts: readonly string[],
  now: number,
): Promise<boolean> {
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
      state: 'waiting',
      reason: null,
      created_at: now,
      not_before: now,
      lease_until: 0,
      attempts: 0,
    })
    // The same word twice is one check.
    .onConflict((conflict) => conflict.column('id').doNothing())
    .execute()
  return true
}

/** The outer condition is judged again under the row's lock: two instances never share a check. */
export async function leaseChecks(
  { db }: Store,
  now: number,
  limit: number,
): Promise<SettlementCheckTable[]> {
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

/** @returns false when this transfer has been counted before, for whichever listing. */
export async function insertSettlement({ db }: Store, settlement: Settlement): Promise<boolean> {
  const inserted = await db
    .insertInto('settlement')
    .values({
      network: settlement.network,
      transaction_id: settlement.transaction,
      log_index: settlement.log_index,
      listing_id: settlement.listing_id,
      payer: settlement.payer,
      payee: settlement.payee,
      amount: settlement.amount,
      micro_usd: Math.round(settlement.usd * 1_000_000),
      settled_at: settlement.at,
    })
    .onConflict((conflict) =>
      conflict.columns(['network', 'transaction_id', 'log_index']).doNothing(),
    )
    .returning('listing_id')
    .execute()
  return inserted.length > 0
}

export async function insertTransfers(
  { db }: Store,
  transfers: readonly Transfer[],
): Promise<void> {
  if (transfers.length === 0) return
  await db
    .insertInto('wallet_transfer')
    .values(
      transfers.map((transfer) => ({
        network: transfer.network,
        transaction_id: transfer.transaction,
        log_index: transfer.log_index,
        sender: transfer.from,
        receiver: transfer.to,
        amount: transfer.amount,
        sent_at: transfer.at,
      })),
    )
    .onConflict((conflict) =>
      conflict.columns(['network', 'transaction_id', 'log_index']).doNothing(),
    )
    .execute()
}

/** One claim on one transaction is one row; a batch may settle several authorisations. */
function toCheckId(listingId: string, claim: SettlementClaim): string {
  const tie = claim.family === 'evm' ? `${claim.payer} ${claim.nonce}` : claim.authorised
  return createHash('sha256')
    .update(`${listingId} ${claim.network} ${claim.transaction} ${tie}`)
    .digest('base64url')
}
