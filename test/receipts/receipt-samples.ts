import { hash, randomBytes } from 'node:crypto'
import { type NewReceipt, toReceiptId } from '../../functions/receipts/receipts.ts'
import type { Store } from '../../functions/store/store.ts'

/** All receipts of a ledger, as it has them. */
export const readKept = ({ db }: Store) =>
  db.selectFrom('receipt').selectAll().orderBy('called_at').orderBy('id').execute()

export function aReceipt(n: number, at = 1_700_000_000_000 + n): NewReceipt {
  return {
    receipt: {
      answer: null,
      at: new Date(at).toISOString(),
      id: toReceiptId(at, randomBytes(16)),
      listing_id: 'x402.seller',
      ms: n,
      operation: 'digest',
      reason: 'The answer is as declared.',
      request: hash('sha256', `request ${n}`),
      status: 200,
      transaction: null,
      verdict: 'as_declared',
    },
    call: 'GET https://seller.example/',
    payment: null,
    authorization: null,
    isNamed: true,
  }
}
