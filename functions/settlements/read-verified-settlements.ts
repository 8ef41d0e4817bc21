import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import { judgePayments } from '../../src/domain/trust/judge-payments.ts'
import { NO_PAYMENT_FACTS, type PaymentFacts } from '../../src/domain/trust/ledger-facts.ts'
import type { LedgerPayee } from '../../src/domain/trust/ledger-payment.ts'
import { HISTORY_MS, windowEnd } from '../../src/domain/trust/score-listings.ts'
import { WASH } from '../../src/domain/wash/wash-rules.ts'
import type { Store } from '../store/schema/store.ts'
import {
  findFreshPayouts,
  readPayersElsewhere,
  readSettlements,
  readTransfers,
} from './settlement-rows.ts'

const DAY_MS = 86_400_000
/** A payout nobody has read for so long is not metered: a provider may know more by now. */
const FRESH_DAYS = 3

/**
 * The payments that the meter read in the last 30 days and before, each with what became of it. The
 * window ends with the day of `now`, UTC: two builds of one day over one ledger write the same bytes.
 *
 * @param payeesOf whose which payee is; asked only where there are payments, or payees that the meter reads
 */
export async function readVerifiedSettlements(
  store: Store,
  payeesOf: () => readonly LedgerPayee[],
  now: number,
): Promise<PaymentFacts> {
  const asOf = windowEnd(now)
  const seen = await readSettlements(store, asOf - HISTORY_MS)
  const read = await findFreshPayouts(store, asOf - FRESH_DAYS * DAY_MS)
  if (seen.length === 0 && read.size === 0) return NO_PAYMENT_FACTS
  const payees = payeesOf().filter(({ payee }) => read.has(normalizePayout(payee)))
  const elsewhere = await readPayersElsewhere(store)
  const payments = judgePayments(seen, {
    asOf,
    payees,
    transfers: await readTransfers(store, asOf - HISTORY_MS - WASH.hopDays * DAY_MS),
    hasPaidElsewhere: (wallet) => elsewhere.has(wallet),
  })
  return { asOf, payments, payees }
}
