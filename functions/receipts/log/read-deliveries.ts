import { hash } from 'node:crypto'
import { sql } from 'kysely'
import * as v from 'valibot'
import { isInTime } from '../../../src/domain/receipts/delivered.ts'
import { createPaymentMarks } from '../../../src/domain/receipts/payment-mark.ts'
import { type Receipt, ReceiptSchema } from '../../../src/domain/receipts/receipt.ts'
import type { WitnessedCall } from '../../../src/domain/trust/ledger-facts.ts'
import type { LedgerPayment } from '../../../src/domain/trust/ledger-payment.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { ReportTable, Store, Tables } from '../../store/schema/store.ts'

/** Receipts of one listing that its seller is shown. */
const MAX_SHOWN = 50
const ROWS_A_PAGE = 2_000
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
    for await (const page of readPages(store, id, since))
      for (const row of page)
        if (kept.hasBuyer(row.payment ?? '') && !isTakenBack.has(row.id))
          kept.add(toCall(row, settledBy))
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
    .selectFrom('receipt')
    .select('listing_id')
    .distinct()
    .where('called_at', '>', since)
    .execute()
  return new Set(rows.map(({ listing_id }) => listing_id))
}

function toCall(
  { listing_id, call, called_at, payment, authorization_hash, body }: Tables['receipt'],
  settledBy: ReadonlyMap<string, string>,
): WitnessedCall {
  const { verdict, transaction } = toReceipt(body)
  const settled = settledBy.get(authorization_hash ?? '') ?? null
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
      const [kept, name] = key === undefined ? [ofBuyers, call.payment] : [ofPayments, key]
      const list = kept.get(name) ?? []
      kept.set(name, list)
      if (key === undefined && list.length >= MAX_OF_BUYER) list.shift()
      if (key === undefined || list.length < MAX_OF_PAYMENT) list.push(call)
    },
    list: () =>
      [...ofPayments.values(), ...ofBuyers.values()]
        .flat()
        .sort((a, b) => a.called_at - b.called_at),
  }
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

/** Receipts of a listing by time. */
async function* readPages({ db }: Store, listingId: string, since: number) {
  const all = db
    .selectFrom('receipt')
    .selectAll()
    .where('listing_id', '=', listingId)
    .orderBy('called_at')
    .orderBy('position')
    .limit(ROWS_A_PAGE)
  for (let page = await all.where('called_at', '>', since).execute(); ; ) {
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < ROWS_A_PAGE) return
    const place = sql`(${last.called_at}, ${last.position})`
    page = await all
      .where('called_at', '>=', last.called_at)
      .where(sql<boolean>`(called_at, position) > ${place}`)
      .execute()
  }
}

/** The newest receipts of a listing, with what each was judged to be: for its seller. */
export async function readReceiptsOf({ db }: Store, listingId: string): Promise<SeenReceipt[]> {
  const rows = await db
    .selectFrom('receipt')
    .select(['id', 'call', 'body'])
    .where('listing_id', '=', listingId)
    .orderBy('called_at', 'desc')
    .orderBy('position', 'desc')
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
  return rows.map(({ id, call, body }) => {
    const dispute = states.get(id)
    return { ...toReceipt(body), call, ...(dispute !== undefined && { dispute }) }
  })
}

export interface SeenReceipt extends Receipt {
  call: string
  /** Where somebody disputed its verdict: the latest. */
  dispute?: ReportTable['state']
}

function toReceipt(body: string): Receipt {
  return v.parse(ReceiptSchema, parseJson(body))
}
