import type { Kysely } from 'kysely'
import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import type { Settlement, Transfer } from '../../src/domain/settlement/settlement.ts'
import { usdAssetOf } from '../../src/domain/settlement/usd-assets.ts'
import type { SeenPayment } from '../../src/domain/trust/judge-payments.ts'
import { inPieces } from '../store/rows.ts'
import type { Store, Tables } from '../store/schema/store.ts'

/** Rows of payments and transfers; orders are fixed, so that the same rows read the same. */

export async function readSettlements({ db }: Store, from: number): Promise<SeenPayment[]> {
  const rows = await db
    .selectFrom('settlement')
    .leftJoin('meter_payer', (join) =>
      join
        .onRef('meter_payer.network', '=', 'settlement.network')
        .onRef('meter_payer.payer', '=', 'settlement.payer'),
    )
    .selectAll('settlement')
    .select('meter_payer.is_traced')
    .where('settled_at', '>', from)
    .orderBy('listing_id')
    .orderBy('settled_at')
    .orderBy('transaction_id')
    .orderBy('log_index')
    .execute()
  const intern = createInterner()
  return rows.map(({ transaction_id, micro_usd, settled_at, block_number, is_traced, ...row }) => ({
    ...row,
    network: intern(row.network),
    // The meter reads one coin of each chain.
    asset: usdAssetOf(row.network, { allowTestCoins: true })?.address ?? 'unknown',
    listing_id: row.listing_id === '' ? null : intern(row.listing_id),
    payer: intern(row.payer),
    payee: intern(row.payee),
    amount: intern(row.amount),
    transaction: transaction_id,
    usd: micro_usd / 1_000_000,
    at: settled_at,
    block: block_number,
    is_untraced: is_traced !== 1,
  }))
}

/** A month may hold a million payments, of far fewer wallets: what says the same is kept once. */
function createInterner(): (text: string) => string {
  const kept = new Map<string, string>()
  return (text) => {
    const known = kept.get(text)
    if (known === undefined) kept.set(text, text)
    return known ?? text
  }
}

export async function readTransfers({ db }: Store, from: number): Promise<Transfer[]> {
  const rows = await db
    .selectFrom('wallet_transfer')
    .selectAll()
    .where('sent_at', '>', from)
    .orderBy('sent_at')
    .orderBy('transaction_id')
    .orderBy('log_index')
    .execute()
  return rows.map(({ transaction_id, sender, receiver, sent_at, block_number, ...row }) => ({
    ...row,
    transaction: transaction_id,
    from: sender,
    to: receiver,
    at: sent_at,
    block: block_number,
    from_contract: row.from_contract === null ? null : row.from_contract === 1,
  }))
}

/** Payouts (CAIP-10) that owners of listings proved. */
export function provenPayouts(db: Kysely<Tables>) {
  return db
    .selectFrom('payout_proof')
    .innerJoin('claim', 'claim.id', 'payout_proof.claim_id')
    .select(['payout_proof.payout', 'claim.listing_id', 'claim.host'])
    .where('claim.state', '=', 'verified')
    .orderBy('payout_proof.payout')
    .orderBy('claim.listing_id')
}

/** Payouts (CAIP-10) that the meter has read up to a moment of late. */
export async function findFreshPayouts({ db }: Store, since: number) {
  const rows = await db
    .selectFrom('meter_cursor')
    .select(['network', 'payout'])
    .where('read_until', '>=', since)
    .execute()
  return new Set(rows.map(({ network, payout }) => normalizePayout(`${network}:${payout}`)))
}

/** Wallets the meter saw pay somebody we do not read. */
export async function readPayersElsewhere({ db }: Store): Promise<Set<string>> {
  const rows = await db
    .selectFrom('meter_payer')
    .select('payer')
    .distinct()
    .where('paid_others_block', 'is not', null)
    .execute()
  return new Set(rows.map(({ payer }) => payer))
}

export function toSettlementRow({ transaction, usd, at, block, ...settlement }: Settlement) {
  return {
    ...settlement,
    transaction_id: transaction,
    micro_usd: Math.round(usd * 1_000_000),
    settled_at: at,
    block_number: block,
  }
}

/** A transfer that is known already learns what was not known of it. */
export async function insertTransfers(db: Kysely<Tables>, transfers: readonly Transfer[]) {
  const rows = transfers.map(({ transaction, from, to, at, block, from_contract, ...rest }) => ({
    ...rest,
    transaction_id: transaction,
    sender: from,
    receiver: to,
    sent_at: at,
    block_number: block,
    from_contract: from_contract === null ? null : Number(from_contract),
  }))
  for (const some of inPieces(rows))
    await db
      .insertInto('wallet_transfer')
      .values(some)
      .onConflict((conflict) =>
        conflict.columns(['network', 'transaction_id', 'log_index']).doUpdateSet((eb) => ({
          block_number: eb.ref('excluded.block_number'),
          from_contract: eb.fn.coalesce('excluded.from_contract', 'wallet_transfer.from_contract'),
        })),
      )
      .execute()
}
