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
/** Calls that are kept of each payment that one is surely of. */
const MAX_OF_PAYMENT = 10
/** And of each buyer of a listing, of those whose answer names something that the meter did not read. */
const MAX_OF_BUYER = 1_000

/**
 * Calls since a moment (milliseconds) that can be of payments that the meter read, by listing, oldest first;
 * without those whose verdict a person took back.
 *
 * Security model: how much is kept of a listing depends on its own receipts and payments alone, so that no
 * flood hides what another did. What anybody can have written for nothing is not kept: a call whose answer
 * names no transaction and whose payer signed nothing that the meter saw.
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

/** Of listings that were called alone: most of a month's payments went past the relay. */
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

/** Of each payment the first calls, of each buyer the newest that are of none that is known. */
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

/** Receipts come in their order to within seconds: of twice as many as are kept, those that are not go. */
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

/** Receipts whose verdict a person took back. */
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

/** The newest receipts of a listing, with what each was judged to be: for its seller. */
export async function readReceiptsOf({ db }: Store, listingId: string): Promise<SeenReceipt[]> {
  // Of calls in later seconds none is older, so that as many pages have all that are shown.
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
