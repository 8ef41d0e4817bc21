import { randomBytes } from 'node:crypto'
import { sha256, toHex } from '../../functions/receipts/log/receipt-log.ts'
import {
  type NewReceipt,
  readPages,
  toReceiptId,
} from '../../functions/receipts/log/receipt-pages.ts'
import type { Store } from '../../functions/store/schema/store.ts'

export const BASE = 'https://waypost.example'

/** All receipts of a ledger, as it has them. */
export const readKept = ({ db }: Store) =>
  readPages(db.selectFrom('receipt_page').orderBy('position'))

export function aReceipt(n: number, at = 1_700_000_000_000 + n): NewReceipt {
  return {
    receipt: {
      id: toReceiptId(at, randomBytes(16)),
      at: new Date(at).toISOString(),
      listing_id: 'x402.seller',
      operation: 'digest',
      request: toHex(sha256(Buffer.from(`request ${n}`))),
      answer: null,
      status: 200,
      verdict: 'as_declared',
      reason: 'It is as declared.',
      transaction: null,
      ms: n,
    },
    call: 'GET https://seller.example/',
    payment: null,
    authorization: null,
  }
}
