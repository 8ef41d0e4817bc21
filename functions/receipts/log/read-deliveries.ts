import * as v from 'valibot'
import { type Receipt, ReceiptSchema } from '../../../src/domain/receipts/receipt.ts'
import type { WitnessedCall } from '../../../src/domain/trust/ledger-facts.ts'
import { parseJson } from '../../../src/domain/wire/parse-json.ts'
import type { DisputeTable, Store } from '../../store/schema/store.ts'

/** Receipts of one listing that its seller is shown. */
const MAX_SHOWN = 50
/** Receipts that a build reads: a month of a busy directory. */
const MAX_READ = 500_000

/**
 * Calls since a moment (milliseconds) whose payment can be looked for, oldest first; without those whose
 * verdict a person took back.
 */
export async function readWitnessedCalls({ db }: Store, since: number): Promise<WitnessedCall[]> {
  const rows = await db
    .selectFrom('receipt')
    .leftJoin('settlement', 'settlement.authorization_hash', 'receipt.authorization_hash')
    .select(['receipt.listing_id', 'call', 'called_at', 'payment', 'body'])
    .select('settlement.transaction_id as settled')
    .where('called_at', '>', since)
    .where('payment', 'is not', null)
    .where('id', 'not in', ({ selectFrom }) =>
      selectFrom('dispute')
        .select(({ ref }) => ref('receipt').$notNull().as('receipt'))
        .where('receipt', 'is not', null)
        .where('state', '=', 'accepted'),
    )
    .orderBy('position', 'desc')
    .limit(MAX_READ)
    .execute()
  return rows.reverse().map(({ body, payment, ...row }) => {
    const { verdict, transaction } = toReceipt(body)
    return { ...row, payment: payment ?? '', verdict, transaction }
  })
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
    .selectFrom('dispute')
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
  dispute?: DisputeTable['state']
}

function toReceipt(body: string): Receipt {
  return v.parse(ReceiptSchema, parseJson(body))
}
