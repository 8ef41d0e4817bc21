import type { Transaction } from 'kysely'
import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import type { Settlement } from '../../src/domain/settlement/settlement.ts'
import { provenPayouts, toSettlementRow } from '../settlements/settlement-rows.ts'
import type { MeterCursorTable, MeterPayerTable, Store, Tables } from '../store/store.ts'
import { inPieces } from '../store/store.ts'

/** The meter's rows. Related rows share a transaction, so that a run may end anywhere. */

/** A payout on one chain that its holder proved, or that was published with a source. */
export interface MeteredPayout {
  /** Address, EVM in lower case. */
  payout: string
  /** Of all its listings, like the hosts. */
  listings: readonly string[]
  hosts: readonly string[]
}

/** A payout (CAIP-10) published for a listing. */
export interface PublishedPayout {
  payout: string
  listing_id: string
  host: string
}

/** By chain. */
export async function readMeteredPayouts({ db }: Store, published: readonly PublishedPayout[]) {
  const proofs = await provenPayouts(db).execute()
  const pages = published.map((one) => ({ ...one, payout: normalizePayout(one.payout) }))
  const known = [...Map.groupBy([...proofs, ...pages], ({ payout }) => payout)]
  const inOrder = known.sort(([a], [b]) => (a < b ? -1 : 1))
  const payouts = inOrder.map(([caip10, of]) => {
    const at = caip10.lastIndexOf(':')
    return {
      network: caip10.slice(0, at),
      payout: caip10.slice(at + 1),
      listings: [...new Set(of.map(({ listing_id }) => listing_id))],
      hosts: [...new Set(of.map(({ host }) => host))],
    }
  })
  return Map.groupBy(payouts, ({ network }) => network)
}

/** How far payouts have been read; nothing for those no longer metered. */
export async function readCursors(
  { db }: Store,
  network: string,
  payouts: readonly MeteredPayout[],
): Promise<MeterCursorTable[]> {
  const metered = new Set(payouts.map(({ payout }) => payout))
  const rows = await db
    .selectFrom('meter_cursor')
    .selectAll()
    .where('network', '=', network)
    .orderBy('payout')
    .execute()
  return rows.filter(({ payout }) => metered.has(payout))
}

export async function insertCursors(trx: Transaction<Tables>, rows: readonly MeterCursorTable[]) {
  for (const some of inPieces(rows))
    await trx
      .insertInto('meter_cursor')
      .values(some)
      .onConflict((conflict) => conflict.columns(['network', 'payout']).doNothing())
      .execute()
}

/** Payments of one range; a known payment stays as it is. */
export async function insertPayments(
  trx: Transaction<Tables>,
  payouts: readonly MeteredPayout[],
  settlements: readonly Settlement[],
) {
  const called = await findCalled(trx, payouts, settlements)
  const rows = settlements.map((one) =>
    toSettlementRow({ ...one, listing_id: called.get(one) ?? '' }),
  )
  for (const some of inPieces(rows))
    await trx
      .insertInto('settlement')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['network', 'transaction_id', 'log_index']).doNothing(),
      )
      .execute()
}

/**
 * For payments to payouts of several listings, the listing that relayed calls named. Anybody can
 * name any listing: only the payee's own listings count, so that nobody but its owner decides.
 */
async function findCalled(
  trx: Transaction<Tables>,
  payouts: readonly MeteredPayout[],
  settlements: readonly Settlement[],
): Promise<Map<Settlement, string>> {
  const listingsOf = new Map(payouts.map(({ payout, listings }) => [payout, listings]))
  const shared = settlements.filter(({ payee }) => (listingsOf.get(payee)?.length ?? 0) > 1)
  const called = new Map<Settlement, string>()
  for (const some of inPieces(shared)) {
    const hints = await trx
      .selectFrom('payment_hint')
      .select(['listing_id', 'transaction_id'])
      .where(
        'transaction_id',
        'in',
        some.map(({ transaction }) => transaction),
      )
      .orderBy('listing_id')
      .execute()
    const byTransaction = Map.groupBy(hints, ({ transaction_id }) => transaction_id)
    for (const one of some) {
      const said = byTransaction.get(one.transaction) ?? []
      const own = said.find(({ listing_id }) => listingsOf.get(one.payee)?.includes(listing_id))
      if (own !== undefined) called.set(one, own.listing_id)
    }
  }
  return called
}

/** With its first known payment. */
export type Payer = Pick<MeterPayerTable, 'network' | 'payer' | 'first_block' | 'first_paid_at'>

/** A payer whose first payment turns out to be earlier is traced again. */
export async function insertPayers(
  trx: Transaction<Tables>,
  payers: readonly Payer[],
  { isTraced }: { isTraced: boolean },
): Promise<void> {
  const state = { is_traced: Number(isTraced), paid_others_block: null }
  const rows = payers.map((payer) => ({ ...payer, ...state }))
  for (const some of inPieces(rows))
    await trx
      .insertInto('meter_payer')
      .values(some)
      .onConflict((conflict) =>
        conflict
          .columns(['network', 'payer'])
          .doUpdateSet((eb) => ({
            first_block: eb.ref('excluded.first_block'),
            first_paid_at: eb.ref('excluded.first_paid_at'),
            is_traced: eb.ref('excluded.is_traced'),
          }))
          .whereRef('meter_payer.first_block', '>', 'excluded.first_block'),
      )
      .execute()
}

/** @param payers by wallet, the block where it paid somebody who is not read */
export async function notePaidOthers(
  trx: Transaction<Tables>,
  network: string,
  payers: ReadonlyMap<string, number>,
): Promise<void> {
  for (const [payer, block] of payers)
    await trx
      .updateTable('meter_payer')
      .set({ paid_others_block: block })
      .where((eb) => eb.and({ network, payer }))
      .where(({ eb, or }) =>
        or([eb('paid_others_block', 'is', null), eb('paid_others_block', '>', block)]),
      )
      .execute()
}
