import { hash } from 'node:crypto'
import * as v from 'valibot'
import { createPaymentMarks, isInTime } from '../../src/domain/relay/delivered.ts'
import {
  type Receipt,
  type ReceiptDay,
  ReceiptSchema,
  toSignedDay,
} from '../../src/domain/relay/receipt.ts'
import type {
  DayOfReceipts,
  JudgedCall,
  LedgerPayment,
} from '../../src/domain/trust/ledger-facts.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { DAY_MS } from '../../src/domain/wire/shapes.ts'
import { RETENTION } from '../../src/domain/wire/vocabulary.ts'
import { inPages, type ReportTable, type Store, type Tables } from '../store/store.ts'
import { createSigner, DAY_CLOSES_MS } from './receipts.ts'

const ROWS_A_PAGE = 5_000
/** How many of a listing's receipts are shown to its seller at most. */
const MAX_SHOWN = 50
/** Most calls kept per payment, if it is known which payment a call carried. */
const MAX_OF_PAYMENT = 10
/** Most calls with unknown payments kept for each buyer of a listing. */
const MAX_OF_BUYER = 1_000

/**
 * Calls since a time (milliseconds) that may belong to payments the meter read, by listing, oldest
 * first; except calls whose verdict a reviewer withdrew.
 *
 * Security model: the calls kept for a listing depend only on its own receipts and payments, so
 * that no flood hides another listing's calls.
 *
 * Known limitations: only the first ten calls with the same payment are kept; of a buyer's calls
 * whose payments the meter has not found, only the newest thousand.
 */
export async function readJudgedCalls(
  store: Store,
  payments: readonly LedgerPayment[],
  since: number,
): Promise<JudgedCall[]> {
  const called = payments.length === 0 ? new Set<string>() : await readCalledListings(store, since)
  if (called.size === 0) return []
  const recent = payments.filter(({ at }) => at > since)
  const markOf = createPaymentMarks()
  const isTakenBack = await readTakenBack(store)
  const settledBy = await readAuthorizations(store, since)
  const calls: JudgedCall[] = []
  for (const [id, own] of groupByListing(recent, called)) {
    const kept = createKeptCalls(Map.groupBy(own, (one) => hash('sha256', markOf(one))))
    const rows = readReceipts(store, since).where('listing_id', '=', id)
    for await (const page of inPages(rows, IN_ORDER, ROWS_A_PAGE))
      for (const row of page)
        if (kept.hasBuyer(row.payment_hash ?? '') && !isTakenBack.has(row.id))
          kept.add(toCall(row, settledBy))
    for (const call of kept.list()) calls.push(call)
  }
  return calls
}

/**
 * The complete days of receipts, oldest first, each with the sorted hashes of its receipts and a
 * signature: anybody who has the file notices if a receipt is removed later.
 *
 * Known limit: a server whose clock is more than an hour behind writes receipts for days that are
 * already complete here.
 */
export async function readReceiptDays(store: Store, now: number): Promise<DayOfReceipts[]> {
  // Retention deletes parts of the oldest day.
  const first = Math.floor((now - RETENTION.receipt_days * DAY_MS) / DAY_MS) + 1
  const end = Math.floor((now - DAY_CLOSES_MS) / DAY_MS)
  const byDay = new Map<number, Buffer[]>()
  const rows = readReceipts(store, first * DAY_MS - 1).where('called_at', '<', end * DAY_MS)
  for await (const page of inPages(rows, IN_ORDER, ROWS_A_PAGE))
    for (const { called_at, receipt } of page) {
      const day = Math.floor(called_at / DAY_MS)
      const hashes = byDay.get(day) ?? []
      byDay.set(day, hashes)
      hashes.push(hash('sha256', receipt, 'buffer'))
    }
  const sign = createDaySigner(store, now)
  const days: DayOfReceipts[] = []
  for (const [day, hashes] of byDay) days.push(await sign(day, hashes))
  return days
}

function createDaySigner(store: Store, now: number) {
  const signer = createSigner(store, { now: () => now })
  return async (number: number, hashes: readonly Buffer[]): Promise<DayOfReceipts> => {
    const lines = hashes.toSorted(Buffer.compare).map((each) => `${each.toString('hex')}\n`)
    const file = lines.join('')
    const day = new Date(number * DAY_MS).toISOString().slice(0, 10)
    const unsigned = { day, receipts: lines.length, sha256: hash('sha256', file) }
    const { id: key, sign } = await signer()
    const statement: ReceiptDay = { ...unsigned, key, signature: sign(toSignedDay(unsigned)) }
    return { ...statement, file }
  }
}

type ReceiptRow = Tables['receipt']

/** Receipts after a time, oldest first. */
function readReceipts({ db }: Store, since: number) {
  return db.selectFrom('receipt').selectAll().where('called_at', '>', since)
}

const IN_ORDER = ['called_at', 'id'] as const

/** Payments by listing, only for called listings: most of a month's payments bypassed the relay. */
function groupByListing(
  payments: readonly LedgerPayment[],
  called: ReadonlySet<string>,
): [string, LedgerPayment[]][] {
  const own = new Map<string, LedgerPayment[]>()
  for (const payment of payments)
    for (const id of payment.listings.filter((listing) => called.has(listing))) {
      const list = own.get(id) ?? []
      own.set(id, list)
      list.push(payment)
    }
  return [...own].sort(([a], [b]) => (a < b ? -1 : 1))
}

async function readCalledListings({ db }: Store, since: number): Promise<Set<string>> {
  const rows = await db
    .selectFrom('receipt')
    .select('listing_id')
    .distinct()
    .where('called_at', '>', since)
    .execute()
  return new Set(rows.map(({ listing_id }) => listing_id))
}

/** The ledger's own rows are not validated again, because a build reads every receipt of a month. */
const VerdictSchema = v.object({
  verdict: ReceiptSchema.entries.verdict,
  transaction: ReceiptSchema.entries.transaction,
})

function toCall(row: ReceiptRow, settledBy: ReadonlyMap<string, string>): JudgedCall {
  return {
    listing_id: row.listing_id,
    call: row.call,
    called_at: row.called_at,
    payment: row.payment_hash ?? '',
    isNamed: row.is_named === 1,
    settled: settledBy.get(row.authorization_hash ?? '') ?? null,
    ...v.parse(VerdictSchema, parseJson(row.receipt)),
  }
}

/** Keeps the first calls of each payment, and each buyer's newest calls whose payment is unknown. */
function createKeptCalls(payments: ReadonlyMap<string, readonly LedgerPayment[]>) {
  const ofPayments = new Map<string, JudgedCall[]>()
  const ofBuyers = new Map<string, JudgedCall[]>()
  const times = new Map(
    [...payments].flatMap(([mark, own]) =>
      own.map(({ transaction, at }) => [`${mark} ${transaction}`, at] as const),
    ),
  )
  const keyOf = (call: JudgedCall) =>
    [call.settled, call.transaction]
      .map((transaction) => `${call.payment} ${transaction}` as const)
      .find((key) => isInTime(call, { at: times.get(key) ?? Number.NaN }))
  return {
    hasBuyer: (mark: string) => payments.has(mark),
    add(call: JudgedCall): void {
      const key = keyOf(call)
      if (key === undefined) keep(ofBuyers, call.payment, call, newestCalls)
      else keep(ofPayments, key, call, firstCalls)
    },
    list: () =>
      [
        ...[...ofPayments.values()].flatMap(firstCalls),
        ...[...ofBuyers.values()].flatMap(newestCalls),
      ].sort(byTime),
  }
}

/** Adds a call; a list more than twice as long as allowed is cut down to the calls that `choose` picks. */
function keep(
  lists: Map<string, JudgedCall[]>,
  name: string,
  call: JudgedCall,
  choose: (calls: readonly JudgedCall[]) => JudgedCall[],
): void {
  const list = lists.get(name) ?? []
  list.push(call)
  lists.set(name, list.length > 2 * MAX_OF_BUYER ? choose(list) : list)
}

const byTime = (a: JudgedCall, b: JudgedCall) => a.called_at - b.called_at

function firstCalls(calls: readonly JudgedCall[]): JudgedCall[] {
  return calls.toSorted(byTime).slice(0, MAX_OF_PAYMENT)
}

function newestCalls(calls: readonly JudgedCall[]): JudgedCall[] {
  return calls.toSorted(byTime).slice(-MAX_OF_BUYER)
}

/** Receipts whose verdict a reviewer withdrew. */
async function readTakenBack({ db }: Store): Promise<Set<string>> {
  const rows = await db
    .selectFrom('report')
    .select('receipt')
    .where('receipt', 'is not', null)
    .where('state', '=', 'accepted')
    .execute()
  return new Set(rows.map(({ receipt }) => receipt ?? ''))
}

/** Transactions, by the hash of the authorisation that the payer signed. */
async function readAuthorizations({ db }: Store, since: number): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('settlement')
    .select(['authorization_hash', 'transaction_id'])
    .where('settled_at', '>', since)
    .where('authorization_hash', 'is not', null)
    .execute()
  return new Map(rows.map((row) => [row.authorization_hash ?? '', row.transaction_id]))
}

export interface SeenReceipt extends Receipt {
  call: string
  /** State of the latest dispute about the verdict, if there is one. */
  dispute?: ReportTable['state']
}

/** A listing's newest receipts with their verdicts, for its seller. */
export async function readReceiptsOf({ db }: Store, listingId: string): Promise<SeenReceipt[]> {
  const newest = await db
    .selectFrom('receipt')
    .select(['call', 'receipt'])
    .where('listing_id', '=', listingId)
    .orderBy('called_at', 'desc')
    .orderBy('id', 'desc')
    .limit(MAX_SHOWN)
    .execute()
  const disputes = await db
    .selectFrom('report')
    .select(['receipt', 'state'])
    .where('listing_id', '=', listingId)
    .where('receipt', 'is not', null)
    .orderBy('created_at')
    .execute()
  const states = new Map(disputes.map(({ receipt, state }) => [receipt, state]))
  return newest.map(({ call, receipt: text }) => {
    const receipt = v.parse(ReceiptSchema, parseJson(text))
    const dispute = states.get(receipt.id)
    return { ...receipt, call, ...(dispute !== undefined && { dispute }) }
  })
}
