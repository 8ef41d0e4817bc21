import type { Kysely, Transaction } from 'kysely'
import { normalizePayout } from '../../src/domain/listing/networks.ts'
import {
  createPayeeLookup,
  type LedgerPayee,
  type LedgerPayment,
  NO_PAYMENT_FACTS,
  type PaymentFacts,
  type Verdict,
  windowOf,
} from '../../src/domain/trust/ledger-facts.ts'
import { COUNTED_SCHEMES, type Transfer } from '../../src/domain/trust/payments.ts'
import { HISTORY_MS } from '../../src/domain/trust/score-listings.ts'
import { windowEnd } from '../../src/domain/trust/trust.ts'
import { type UsdAsset, usdAssetOf } from '../../src/domain/trust/usd-assets.ts'
import {
  findWash,
  indexTransfers,
  normalizeWallet,
  WASH,
  type WashFlagId,
} from '../../src/domain/trust/wash.ts'
import { DAY_MS } from '../../src/domain/wire/shapes.ts'
import type { Clock } from '../ports/clock.ts'
import type { Log } from '../ports/log.ts'
import {
  inPages,
  inPieces,
  insertTogether,
  type MeterCursorTable,
  type MeterPayerTable,
  type Store,
  type Tables,
} from '../store/store.ts'
import type { JsonRpc } from './evm-chain.ts'

export type SettlementTable = Tables['settlement']

/** One chain to be metered, and everything needed for it. */
export interface ChainWork {
  network: string
  asset: UsdAsset
  payouts: readonly MeteredPayout[]
  rpc: JsonRpc
  store: Store
  clock: Clock
  log: Log
  /** How many confirmations a payment needs before it is counted (EVM). */
  confirmations: number
  /** The moment from which to read again (milliseconds); null: continue where the last run ended. */
  since: number | null
  /** Called between steps. @throws MeterStopped if the work must end */
  onStep(): Promise<void>
  /**
   * One transaction that holds the meter's job. A process may be suspended after its last check: it
   * must not add older rows to rows that another process wrote meanwhile.
   * @throws MeterStopped if another process took the job; then nothing was written
   */
  write(change: (trx: Transaction<Tables>) => Promise<void>): Promise<void>
}

/** What one run did on one chain. */
export interface ChainTally {
  /** Payments recorded, including those known before. */
  payments: number
  /** Blocks (EVM) or transactions (Solana) read. */
  read: number
}

/** The run must end, or another process took its job. Rows already written stay. */
export class MeterStopped extends Error {
  override name = 'MeterStopped'
}

/** How far back a payout is read when its meter starts: the score's window. */
export const FIRST_READ_MS = 30 * DAY_MS

/** The meter writes related rows in one transaction, so that a run may end anywhere. */

/** A payout address on one chain, proved by its holder or published with a source. */
export interface MeteredPayout {
  /** Address, EVM in lower case. */
  payout: string
  /** All of the payout's listings; `hosts` are their hosts. */
  listings: readonly string[]
  hosts: readonly string[]
}

/** A payout (CAIP-10) published for a listing. */
export interface PublishedPayout {
  payout: string
  listing_id: string
  host: string
}

/** How far payouts have been read; payouts that are no longer metered are absent. */
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

/** Inserts the payments of one range; a known payment stays unchanged. */
export async function insertPayments(
  trx: Transaction<Tables>,
  { payouts, store }: ChainWork,
  settlements: readonly SettlementTable[],
) {
  const called = await findCalled(trx, payouts, settlements)
  const rows = settlements.map((one) => ({ ...one, listing_id: called.get(one) ?? '' }))
  await insertTogether({ db: trx, dialect: store.dialect }, 'settlement', rows)
}

/**
 * For payments to payouts with several listings, the listing that relayed calls named. Anybody can
 * name any listing, so only the payee's own listings are accepted.
 */
async function findCalled(
  trx: Transaction<Tables>,
  payouts: readonly MeteredPayout[],
  settlements: readonly SettlementTable[],
): Promise<Map<SettlementTable, string>> {
  const listingsOf = new Map(payouts.map(({ payout, listings }) => [payout, listings]))
  const shared = settlements.filter(({ payee }) => (listingsOf.get(payee)?.length ?? 0) > 1)
  const called = new Map<SettlementTable, string>()
  for (const some of inPieces(shared)) {
    const hints = await trx
      .selectFrom('payment_hint')
      .select(['listing_id', 'transaction_id'])
      .where(
        'transaction_id',
        'in',
        some.map(({ transaction_id }) => transaction_id),
      )
      .orderBy('listing_id')
      .execute()
    const byTransaction = Map.groupBy(hints, ({ transaction_id }) => transaction_id)
    for (const one of some) {
      const stated = byTransaction.get(one.transaction_id) ?? []
      const own = stated.find(({ listing_id }) => listingsOf.get(one.payee)?.includes(listing_id))
      if (own !== undefined) called.set(one, own.listing_id)
    }
  }
  return called
}

/** A payer with its first known payment. */
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

/** Payments and transfers are read in a fixed order, so that the same rows give the same result. */

/**
 * Rows read at once: a month may have a million payments, too many for one answer. Pages of 5,000
 * rows would take a tenth more memory for the same work.
 */
const ROWS_A_PAGE = 1_000

/** All columns except the hash that finds calls, which few payments have. */
const SEEN_COLUMNS = [
  ...(['network', 'transaction_id', 'log_index', 'listing_id', 'payer', 'payee'] as const),
  ...(['amount', 'micro_usd', 'settled_at', 'block_number', 'scheme'] as const),
]
type SettlementRow = Pick<SettlementTable, (typeof SEEN_COLUMNS)[number]>

interface KnownPayer {
  /** One string per wallet: there are far fewer wallets than payments. */
  wallet: string
  /** Whether the meter traced where the wallet's money came from. */
  isTraced: boolean
}

/** Facts about wallets that paid. */
interface Payers {
  find(network: string, wallet: string): KnownPayer | undefined
  /** Whether the meter saw a wallet pay an account that it does not read. */
  hasPaidElsewhere(wallet: string): boolean
}

async function readPayers({ db }: Store): Promise<Payers> {
  const known = new Map<string, Map<string, KnownPayer>>()
  const elsewhere = new Set<string>()
  const columns = ['network', 'payer', 'is_traced', 'paid_others_block'] as const
  const all = db.selectFrom('meter_payer').select(columns)
  for await (const page of inPages(all, ['network', 'payer'], ROWS_A_PAGE))
    for (const { network, payer, is_traced, paid_others_block } of page) {
      const own = known.get(network) ?? new Map<string, KnownPayer>()
      known.set(network, own.set(payer, { wallet: payer, isTraced: is_traced === 1 }))
      if (paid_others_block !== null) elsewhere.add(payer)
    }
  return {
    find: (network, wallet) => known.get(network)?.get(wallet),
    hasPaidElsewhere: (wallet) => elsewhere.has(wallet),
  }
}

async function readTransfers({ db }: Store, from: number): Promise<Transfer[]> {
  const rows = await db
    .selectFrom('wallet_transfer')
    .select(['network', 'transaction_id as transaction', 'log_index as log', 'amount'])
    .select(['sender as from', 'receiver as to', 'sent_at as at', 'block_number as block'])
    .select('from_contract')
    .where('sent_at', '>', from)
    .orderBy('sent_at')
    .orderBy('transaction_id')
    .orderBy('log_index')
    .execute()
  return rows.map(({ from_contract: is, ...row }) => ({
    ...row,
    from_contract: is === null ? null : is === 1,
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

/** Payouts (CAIP-10) that the meter has read at least up to `since`. */
async function findFreshPayouts({ db }: Store, since: number) {
  const rows = await db
    .selectFrom('meter_cursor')
    .select(['network', 'payout'])
    .where('read_until', '>=', since)
    .execute()
  return new Set(rows.map(({ network, payout }) => normalizePayout(`${network}:${payout}`)))
}

/** Inserts transfers; a known transfer only gets its missing facts. */
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

/** A payout not read for this long is no longer metered: a provider's figures may then be used again. */
const FRESH_DAYS = 3

/**
 * The payments that the meter read, recent (30 days) and older, each with its verdict. The window
 * ends with the day of `now`, UTC.
 * @param payeesOf returns the owner of each payee; called only if the meter reads payees
 */
export async function readVerifiedSettlements(
  store: Store,
  payeesOf: () => readonly LedgerPayee[],
  now: number,
): Promise<PaymentFacts> {
  const asOf = windowEnd(now)
  const read = await findFreshPayouts(store, asOf - FRESH_DAYS * DAY_MS)
  const owned = read.size === 0 ? [] : payeesOf()
  const payees = owned.filter(({ payee }) => read.has(normalizePayout(payee)))
  const payeeOf = createPayeeLookup(payees)
  const payers = await readPayers(store)
  const rows: MeteredPayment[] = []
  const toPayment = createPaymentReader(payeeOf, payers.find)
  const since = store.db
    .selectFrom('settlement')
    .select(SEEN_COLUMNS)
    .where('settled_at', '>', asOf - HISTORY_MS)
  const order = ['settled_at', 'network', 'transaction_id', 'log_index'] as const
  for await (const page of inPages(since, order, ROWS_A_PAGE))
    for (const row of page) rows.push(toPayment(row))
  if (rows.length === 0 && read.size === 0) return NO_PAYMENT_FACTS
  const payments = judgePayments(rows, {
    asOf,
    payees,
    transfers: await readTransfers(store, asOf - HISTORY_MS - WASH.hopDays * DAY_MS),
    hasPaidElsewhere: payers.hasPaidElsewhere,
  })
  return { asOf, payments, payees }
}

/** A row of the ledger, with the additional facts for the exclusions. */
export interface MeteredPayment extends LedgerPayment {
  block: number | null
}

/** A payment with its listings, and whether it is valid before the exclusions are applied. */
export function createPaymentReader(
  payeeOf: ReturnType<typeof createPayeeLookup>,
  findPayer: Payers['find'],
) {
  const texts = new Map<string, string>()
  // A month may have a million payments: equal texts are kept once.
  const intern = (text: string) => {
    const known = texts.get(text)
    if (known === undefined) texts.set(text, text)
    return known ?? text
  }
  /** Names each column: copying unused columns for a million rows would be wasted work. */
  return (row: SettlementRow): MeteredPayment => {
    const network = intern(row.network)
    const payee = intern(normalizeWallet(row.payee))
    const payer = findPayer(network, row.payer)
    const owned = payeeOf({ network, payee })
    const listings = owned?.listings ?? []
    const called = listings.filter((id) => id === row.listing_id)
    return {
      network,
      transaction: row.transaction_id,
      log: row.log_index,
      at: row.settled_at,
      // The meter reads one coin on each chain.
      asset: usdAssetOf(network, { allowTestCoins: true })?.address ?? 'unknown',
      amount: intern(row.amount),
      usd_micro: row.micro_usd,
      payer: normalizeWallet(payer?.wallet ?? row.payer),
      payee,
      scheme: COUNTED_SCHEMES.find((scheme) => scheme === row.scheme) ?? null,
      listings: called.length > 0 ? called : listings,
      verdict: findSkipReason(row, owned, payer),
      block: row.block_number,
    }
  }
}

function findSkipReason(
  { amount }: SettlementRow,
  payee: LedgerPayee | undefined,
  payer: KnownPayer | undefined,
): Verdict {
  if (/^0+$/.test(amount)) return 'nothing_paid'
  if (payee === undefined) return 'payee_not_owned'
  return payer?.isTraced === true ? 'counted' : 'payer_untraced'
}

export interface Surroundings {
  /** End of the window, milliseconds. */
  asOf: number
  payees: readonly LedgerPayee[]
  transfers: readonly Transfer[]
  /** Whether a wallet (as `normalizeWallet` writes it) was seen to pay a payee that is not read. */
  hasPaidElsewhere: (wallet: string) => boolean
}

/**
 * The ledger's rows, after the exclusions have removed some of the payments that would otherwise be
 * counted. All of a seller's payments are judged together, so that last month's refund does not
 * look like a buyer's funding.
 */
export function judgePayments(
  payments: readonly MeteredPayment[],
  { asOf, payees, transfers, hasPaidElsewhere }: Surroundings,
): readonly MeteredPayment[] {
  const payeeOf = createPayeeLookup(payees)
  const ownerOf = (payment: LedgerPayment) => payeeOf(payment)?.owner ?? ''
  const known = indexTransfers(transfers)
  const inWindow = (at: number) => windowOf(at, asOf)
  const counted = payments.filter(({ verdict }) => verdict === 'counted')
  // Computed only if many wallets pay within minutes.
  let soleOwners: Map<string, string | null> | undefined
  const soleOwnerOf = (wallet: string) => {
    soleOwners ??= findSoleOwners(counted, ownerOf)
    return soleOwners.get(wallet)
  }
  const payeesOf = Map.groupBy(payees, ({ owner }) => owner)
  const flags = new Map<MeteredPayment, WashFlagId>()
  for (const [owner, own] of Map.groupBy(counted, ownerOf)) {
    const wallets = (payeesOf.get(owner) ?? []).map(({ payee }) => toWallet(payee))
    const hasPaidOthers = (wallet: string) =>
      hasPaidElsewhere(wallet) || soleOwnerOf(wallet) !== owner
    const knowledge = { wallets, transfers: known, hasPaidOthers, windowOf: inWindow }
    for (const [payment, flag] of findWash(own, knowledge)) flags.set(payment, flag)
  }
  if (flags.size === 0) return payments
  return payments.map((payment) => {
    const verdict = flags.get(payment)
    return verdict === undefined ? payment : { ...payment, verdict }
  })
}

/** The only owner that a wallet paid; null if it paid several. */
function findSoleOwners(
  payments: readonly LedgerPayment[],
  ownerOf: (payment: LedgerPayment) => string,
): Map<string, string | null> {
  const owners = new Map<string, string | null>()
  for (const payment of payments) {
    const owner = ownerOf(payment)
    const known = owners.get(payment.payer)
    if (known === undefined) owners.set(payment.payer, owner)
    else if (known !== null && known !== owner) owners.set(payment.payer, null)
  }
  return owners
}

/** @example toWallet('eip155:8453:0xAbc') → '0xAbc' */
function toWallet(payout: string): string {
  return payout.split(':')[2] ?? payout
}
