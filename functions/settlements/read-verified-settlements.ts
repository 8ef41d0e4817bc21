import { normalizePayout } from '../../src/domain/listing/caip-account.ts'
import {
  judgePayments,
  type MeteredPayment,
  toMeteredPayment,
} from '../../src/domain/trust/judge-payments.ts'
import { NO_PAYMENT_FACTS, type PaymentFacts } from '../../src/domain/trust/ledger-facts.ts'
import { createPayeeLookup, type LedgerPayee } from '../../src/domain/trust/ledger-payment.ts'
import { HISTORY_MS } from '../../src/domain/trust/score-listings.ts'
import { windowEnd } from '../../src/domain/trust/trust.ts'
import { WASH } from '../../src/domain/wash/wash-rules.ts'
import type { Store } from '../store/store.ts'
import { findFreshPayouts, readPayers, readSettlements, readTransfers } from './settlement-rows.ts'

const DAY_MS = 86_400_000
/** A payout not read for this long is not metered: a provider may know more by now. */
const FRESH_DAYS = 3

/**
 * Payments the meter read in the last 30 days and before, each with its verdict. The window ends
 * with the day of `now`, UTC.
 *
 * @param payeesOf the owner of each payee; called only where the meter reads payees
 */
export async function readVerifiedSettlements(
  store: Store,
  payeesOf: () => readonly LedgerPayee[],
  now: number,
): Promise<PaymentFacts> {
  const asOf = windowEnd(now)
  const read = await findFreshPayouts(store, asOf - FRESH_DAYS * DAY_MS)
  const owned = read.size === 0 ? [] : payeesOf()
  const payees = owned.filter(({ payee }) => read.has(normalizePayout(payee)))
  const payeeOf = createPayeeLookup(payees)
  const payers = await readPayers(store)
  const rows: MeteredPayment[] = []
  for await (const page of readSettlements(store, asOf - HISTORY_MS, payers))
    for (const seen of page) rows.push(toMeteredPayment(seen, payeeOf))
  if (rows.length === 0 && read.size === 0) return NO_PAYMENT_FACTS
  const payments = judgePayments(rows, {
    asOf,
    payees,
    transfers: await readTransfers(store, asOf - HISTORY_MS - WASH.hopDays * DAY_MS),
    hasPaidElsewhere: payers.hasPaidElsewhere,
  })
  return { asOf, payments, payees }
}
