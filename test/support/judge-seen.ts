import {
  judgePayments,
  type MeteredPayment,
  type SeenPayment,
  type Surroundings,
  toMeteredPayment,
} from '../../functions/trust/meter-rows.ts'
import { createPayeeLookup } from '../../src/domain/trust/ledger-facts.ts'

/** What becomes of payments as a chain shows them, where the meter reads them all. */
export function judgeSeen(
  seen: readonly SeenPayment[],
  around: Surroundings,
): readonly MeteredPayment[] {
  const payeeOf = createPayeeLookup(around.payees)
  return judgePayments(
    seen.map((one) => toMeteredPayment(one, payeeOf)),
    around,
  )
}
