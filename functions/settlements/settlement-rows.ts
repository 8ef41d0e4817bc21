import { hash } from 'node:crypto'
import { type Kysely, type Selectable, sql } from 'kysely'
import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import type { CountedScheme } from '../../src/domain/settlement/schemes/schemes.ts'
import type { Settlement, Transfer } from '../../src/domain/settlement/settlement.ts'
import { usdAssetOf } from '../../src/domain/settlement/usd-assets.ts'
import type { SeenPayment } from '../../src/domain/trust/judge-payments.ts'
import type { Store, Tables } from '../store/store.ts'
import { inPieces } from '../store/store.ts'

/** Rows of payments and transfers; in a fixed order, so that the same rows give the same result. */

/**
 * Rows read at once: a month may hold a million payments, and no answer of a database is that long. A page of
 * 5,000 takes a tenth more memory for the same work.
 */
const ROWS_A_PAGE = 1_000

/** Payments after a time, by time, in pages. */
export async function* readSettlements(
  { db }: Store,
  from: number,
  { find }: Pick<Payers, 'find'>,
): AsyncGenerator<SeenPayment[]> {
  const interners = { text: createInterner<string>(), scheme: createInterner<CountedScheme>() }
  const all = db
    .selectFrom('settlement')
    .select(SEEN_COLUMNS)
    .orderBy('settled_at')
    .orderBy('network')
    .orderBy('transaction_id')
    .orderBy('log_index')
    .limit(ROWS_A_PAGE)
  for (let page = await all.where('settled_at', '>', from).execute(); ; ) {
    yield page.map((row) => toSeen(row, find(row.network, row.payer), interners))
    const last = page.at(-1)
    if (last === undefined || page.length < ROWS_A_PAGE) return
    const { settled_at, network, transaction_id, log_index } = last
    const place = sql`(${settled_at}, ${network}, ${transaction_id}, ${log_index})`
    page = await all
      .where('settled_at', '>=', settled_at)
      .where(sql<boolean>`(settled_at, network, transaction_id, log_index) > ${place}`)
      .execute()
  }
}

/** Names each column: copying the others for a million rows would be wasted work. */
function toSeen(
  row: SettlementRow,
  payer: KnownPayer | undefined,
  interners: { text: (text: string) => string; scheme: (scheme: CountedScheme) => CountedScheme },
): SeenPayment {
  const { scheme, listing_id } = row
  const intern = interners.text
  const network = intern(row.network)
  return {
    network,
    transaction: row.transaction_id,
    log: row.log_index,
    // The meter reads one coin of each chain.
    asset: usdAssetOf(network, { allowTestCoins: true })?.address ?? 'unknown',
    listing_id: listing_id === '' ? null : intern(listing_id),
    payer: payer?.wallet ?? row.payer,
    payee: intern(row.payee),
    amount: intern(row.amount),
    usd: row.micro_usd / 1_000_000,
    at: row.settled_at,
    block: row.block_number,
    scheme: scheme === null ? null : interners.scheme(scheme),
    is_untraced: payer?.isTraced !== true,
  }
}

/** Not the hash that finds calls: few of a million payments have one. */
const SEEN_COLUMNS = [
  ...(['network', 'transaction_id', 'log_index', 'listing_id', 'payer', 'payee'] as const),
  ...(['amount', 'micro_usd', 'settled_at', 'block_number', 'scheme'] as const),
]
type SettlementRow = Pick<Selectable<Tables['settlement']>, (typeof SEEN_COLUMNS)[number]>

interface KnownPayer {
  /** One string per wallet: there are far fewer wallets than payments. */
  wallet: string
  /** Whether the meter traced where its money came from. */
  isTraced: boolean
}

/** Facts about wallets that paid. */
export interface Payers {
  find(network: string, wallet: string): KnownPayer | undefined
  /** Whether it saw a wallet pay somebody we do not read. */
  hasPaidElsewhere(wallet: string): boolean
}

export async function readPayers({ db }: Store): Promise<Payers> {
  const known = new Map<string, Map<string, KnownPayer>>()
  const elsewhere = new Set<string>()
  const all = db
    .selectFrom('meter_payer')
    .select(['network', 'payer', 'is_traced', 'paid_others_block'])
    .orderBy('network')
    .orderBy('payer')
    .limit(ROWS_A_PAGE)
  for (let page = await all.execute(); ; ) {
    for (const { network, payer, is_traced, paid_others_block } of page) {
      const own = known.get(network) ?? new Map<string, KnownPayer>()
      known.set(network, own.set(payer, { wallet: payer, isTraced: is_traced === 1 }))
      if (paid_others_block !== null) elsewhere.add(payer)
    }
    const last = page.at(-1)
    if (last === undefined || page.length < ROWS_A_PAGE) break
    const place = sql`(${last.network}, ${last.payer})`
    page = await all.where(sql<boolean>`(network, payer) > ${place}`).execute()
  }
  return {
    find: (network, wallet) => known.get(network)?.get(wallet),
    hasPaidElsewhere: (wallet) => elsewhere.has(wallet),
  }
}

/** Equal rows are kept once. */
function createInterner<Text extends string>(): (text: Text) => Text {
  const kept = new Map<Text, Text>()
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
  return rows.map(
    ({ transaction_id, log_index, sender, receiver, sent_at, block_number, ...row }) => ({
      ...row,
      transaction: transaction_id,
      log: log_index,
      from: sender,
      to: receiver,
      at: sent_at,
      block: block_number,
      from_contract: row.from_contract === null ? null : row.from_contract === 1,
    }),
  )
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

export function toSettlementRow({
  transaction,
  log,
  usd,
  at,
  block,
  authorization,
  ...settlement
}: Settlement) {
  return {
    ...settlement,
    authorization_hash:
      authorization === null || authorization === undefined ? null : hash('sha256', authorization),
    transaction_id: transaction,
    log_index: log,
    micro_usd: Math.round(usd * 1_000_000),
    settled_at: at,
    block_number: block,
  }
}

/** A known transfer gets the facts that were missing. */
export async function insertTransfers(db: Kysely<Tables>, transfers: readonly Transfer[]) {
  const rows = transfers.map(
    ({ transaction, log, from, to, at, block, from_contract, ...rest }) => ({
      ...rest,
      transaction_id: transaction,
      log_index: log,
      sender: from,
      receiver: to,
      sent_at: at,
      block_number: block,
      from_contract: from_contract === null ? null : Number(from_contract),
    }),
  )
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
