import { ROUTES } from '../../../src/domain/wire/route-table.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Log } from '../../ports/log.ts'
import type { Store } from '../../store/schema/store.ts'
import { createSigners } from './receipt-keys.ts'
import { createReceiptLog } from './receipt-log.ts'

export type Receipts = ReturnType<typeof openReceipts>

/** The log of receipts over the ledger, and its signer. */
export function openReceipts(parts: { store: Store; clock: Clock; log: Log; baseUrl: string }) {
  const { store, clock, log, baseUrl } = parts
  const signers = createSigners(store, clock)
  const address = `${baseUrl}${ROUTES.receipt_log.path}`
  return { store, signers, ...createReceiptLog({ store, clock, log, address, signers }) }
}
