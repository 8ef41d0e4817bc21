import { randomBytes } from 'node:crypto'
import { type NewReceipt, sha256, toHex } from '../../functions/receipts/log/receipt-log.ts'

export const BASE = 'https://waypost.example'

export function aReceipt(n: number): NewReceipt {
  return {
    receipt: {
      id: randomBytes(16).toString('base64url'),
      at: new Date(1_700_000_000_000 + n).toISOString(),
      listing_id: 'x402.seller',
      operation: 'digest',
      request: toHex(sha256(Buffer.from(`request ${n}`))),
      answer: null,
      status: 200,
      verdict: 'as_declared',
      reason: 'It is what is declared.',
      transaction: null,
      ms: n,
    },
    call: 'GET https://seller.example/',
    payment: null,
    authorization: null,
  }
}
