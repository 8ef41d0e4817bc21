import { hash } from 'node:crypto'
import { isInTime } from '../../../src/domain/receipts/delivered.ts'
import { createPaymentMarks } from '../../../src/domain/receipts/payment-mark.ts'
import type { Receipt } from '../../../src/domain/receipts/receipt.ts'
import type { WitnessedCall } from '../../../src/domain/trust/ledger-facts.ts'
import type { LedgerPayment } from '../../../src/domain/trust/ledger-payment.ts'
import type { ReportTable, Store } from '../../store/schema/store.ts'
import { type KeptReceipt, readPages, readPagesOf, spanOf } from './receipt-pages.ts'

/** Receipts of one listing that its seller is shown. */
const MAX_SHOWN = 50
/** Calls kept for each payment that they surely belong to. */
const MAX_OF_PAYMENT = 10
/** And for each buyer of a listing, of calls whose answer names a payment unknown to the meter. */
const MAX_OF_BUYER = 1_000

/**
 * Calls since a time (milliseconds) that may belong to payments the meter read, by listing, oldest
 * first; without those whose verdict a reviewer withdrew.
 *
 * Security model: how much is kept of a listing depends only on its own receipts and payments, so
 * that no flood hides another's calls. What anybody can write for free is not kept: a call whose
 * answer names no transaction and whose payer signed nothing that the meter saw.
 */
export async function readWitnessedCalls(
  store: Store,
  payments: readonly LedgerPayment[],
  since: number,
): Promise<WitnessedCall[]> {
  const called = await readCalledListings(store, since)
  if (called.size === 0) return []
  const recent = payments.filter(({ at }) => at > since)
  const markOf = createPaymentMarks()
  const isTakenBack = await readTakenBack(store)
  const settledBy = await readAuthorizations(store, since)
  const calls: WitnessedCall[] = []
  for (const [id, own] of groupByListing(recent, called)) {
    const kept = createKeptCalls(Map.groupBy(own, (one) => hash('sha256', markOf(one))))
    for await (const receipts of readPagesOf(store, id, since))
      for (const one of receipts)
        if (kept.hasBuyer(one.payment ?? '') && !isTakenBack.has(one.receipt.id))
          kept.add(toCall(one, settledBy))
    for (const call of kept.list()) calls.push(call)
  }
  return calls
}

/** Only of listings that were called: most of a month's payments bypassed the relay. */
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
    .selectFrom('receipt_page')
    .select('listing_id')
    .distinct()
    .where('span', '>=', spanOf(since))
    .execute()
  return new Set(rows.map(({ listing_id }) => listing_id))
}

function toCall(
  { receipt, call, payment, authorization }: KeptReceipt,
  settledBy: ReadonlyMap<string, string>,
): WitnessedCall {
  const { listing_id, verdict, transaction } = receipt
  const called_at = Date.parse(receipt.at)
  const settled = settledBy.get(authorization ?? '') ?? null
  return { listing_id, call, called_at, payment: payment ?? '', transaction, settled, verdict }
}

/** For each payment the first calls, for each buyer the newest without a known payment. */
function createKeptCalls(payments: ReadonlyMap<string, readonly LedgerPayment[]>) {
  const ofPayments = new Map<string, WitnessedCall[]>()
  const ofBuyers = new Map<string, WitnessedCall[]>()
  const times = new Map(
    [...payments].flatMap(([mark, own]) =>
      own.map(({ transaction, at }) => [`${mark} ${transaction}`, at] as const),
    ),
  )
  const keyOf = (call: WitnessedCall) =>
    [call.settled, call.transaction]
      .map((transaction) => `${call.payment} ${transaction}` as const)
      .find((key) => isInTime(call, { at: times.get(key) ?? Number.NaN }))
  return {
    hasBuyer: (mark: string) => payments.has(mark),
    add(call: WitnessedCall): void {
      if (call.settled === null && call.transaction === null) return
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

/** Receipts arrive in order to within seconds: past twice the number kept, the rest goes. */
function keep(
  lists: Map<string, WitnessedCall[]>,
  name: string,
  call: WitnessedCall,
  choose: (calls: readonly WitnessedCall[]) => WitnessedCall[],
): void {
  const list = lists.get(name) ?? []
  list.push(call)
  lists.set(name, list.length > 2 * MAX_OF_BUYER ? choose(list) : list)
}

const byTime = (a: WitnessedCall, b: WitnessedCall) => a.called_at - b.called_at

function firstCalls(calls: readonly WitnessedCall[]): WitnessedCall[] {
  return calls.toSorted(byTime).slice(0, MAX_OF_PAYMENT)
}

function newestCalls(calls: readonly WitnessedCall[]): WitnessedCall[] {
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

/** Transactions by what their payers had signed. */
async function readAuthorizations({ db }: Store, since: number): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('settlement')
    .select(['authorization_hash', 'transaction_id'])
    .where('settled_at', '>', since)
    .where('authorization_hash', 'is not', null)
    .execute()
  return new Map(rows.map((row) => [row.authorization_hash ?? '', row.transaction_id]))
}

/** The newest receipts of a listing with their verdicts: for its seller. */
export async function readReceiptsOf({ db }: Store, listingId: string): Promise<SeenReceipt[]> {
  // No call of a later second is older, so this many pages have all that are shown.
  const newest = await readPages(
    db
      .selectFrom('receipt_page')
      .where('listing_id', '=', listingId)
      .orderBy('span', 'desc')
      .orderBy('position', 'desc')
      .limit(MAX_SHOWN),
  )
  const disputes = await db
    .selectFrom('report')
    .select(['receipt', 'state'])
    .where('listing_id', '=', listingId)
    .where('receipt', 'is not', null)
    .orderBy('created_at')
    .execute()
  const states = new Map(disputes.map(({ receipt, state }) => [receipt, state]))
  return newest
    .sort((a, b) => Date.parse(b.receipt.at) - Date.parse(a.receipt.at) || b.position - a.position)
    .slice(0, MAX_SHOWN)
    .map(({ receipt, call }) => {
      const dispute = states.get(receipt.id)
      return { ...receipt, call, ...(dispute !== undefined && { dispute }) }
    })
}

export interface SeenReceipt extends Receipt {
  call: string
  /** Where somebody disputed its verdict: the latest. */
  dispute?: ReportTable['state']
}
