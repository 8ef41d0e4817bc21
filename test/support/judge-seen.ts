import {
  createPaymentReader,
  judgePayments,
  type MeteredPayment,
  type Surroundings,
} from '../../functions/trust/meter-rows.ts'
import { createPayeeLookup } from '../../src/domain/trust/ledger-facts.ts'
import type { CountedScheme } from '../../src/domain/trust/payments.ts'

/** A payment as a chain shows it, before any verdict. */
export interface SeenPayment {
  network: string
  transaction: string
  log: number
  payer: string
  payee: string
  usd: number
  amount: string
  at: number
  block: number | null
  scheme: CountedScheme | null
  /** The one that the relay's notes name, where they do. */
  listing_id: string | null
  /** The source of its payer's money has not been traced yet. */
  is_untraced?: boolean
}

/** What becomes of payments as a chain shows them, where the meter reads them all. */
export function judgeSeen(
  seen: readonly SeenPayment[],
  around: Surroundings,
): readonly MeteredPayment[] {
  let isTraced = true
  const toPayment = createPaymentReader(createPayeeLookup(around.payees), (_, wallet) => ({
    wallet,
    isTraced,
  }))
  const payments = seen.map(({ transaction, log, usd, at, block, is_untraced, ...one }) => {
    isTraced = is_untraced !== true
    return toPayment({
      ...{ ...one, listing_id: one.listing_id ?? '' },
      ...{ transaction_id: transaction, log_index: log, micro_usd: Math.round(usd * 1_000_000) },
      ...{ settled_at: at, block_number: block },
    })
  })
  return judgePayments(payments, around)
}
