import * as v from 'valibot'
import { type Receipt, ReceiptSchema } from '../../../src/domain/receipts/receipt.ts'
import type { WitnessedCall } from '../../../src/domain/trust/ledger-facts.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { Store } from '../../store/schema/store.ts'

/** Receipts of one listing that its seller is shown. */
const MAX_SHOWN = 50
/** Receipts that a build reads: a month of a busy directory. */
const MAX_READ = 500_000

/** Calls since a moment (milliseconds) whose payment can be looked for, oldest first. */
export async function readWitnessedCalls({ db }: Store, since: number): Promise<WitnessedCall[]> {
  const rows = await db
    .selectFrom('receipt')
    .select(['listing_id', 'call', 'called_at', 'payment', 'body'])
    .where('called_at', '>', since)
    .where('payment', 'is not', null)
    .orderBy('position', 'desc')
    .limit(MAX_READ)
    .execute()
  return rows.reverse().map(({ body, payment, ...row }) => {
    const { verdict, transaction } = toReceipt(body)
    return { ...row, payment: payment ?? '', verdict, transaction }
  })
}

/** The newest receipts of a listing, with what each was judged to be: for its seller. */
export async function readReceiptsOf(
  { db }: Store,
  listingId: string,
): Promise<(Receipt & { call: string })[]> {
  const rows = await db
    .selectFrom('receipt')
    .select(['call', 'body'])
    .where('listing_id', '=', listingId)
    .orderBy('called_at', 'desc')
    .orderBy('position', 'desc')
    .limit(MAX_SHOWN)
    .execute()
  return rows.map(({ call, body }) => ({ ...toReceipt(body), call }))
}

function toReceipt(body: string): Receipt {
  return v.parse(ReceiptSchema, parseJson(body))
}
