import type { Settlement } from '../settlement/settlement.ts'
import { findFirstPayments, findFunders, type TransferIndex } from './chain-order.ts'
import { normalizeWallet, WASH } from './wash-rules.ts'

/**
 * Bursts of first-time payers of one same amount: many wallets, one hand. Fast sales alone are no
 * proof (a launch looks like that too), so a second sign is asked for.
 *
 * @returns every settlement of a cohort's payers in that amount.
 */
export function findBursts(
  settlements: readonly Settlement[],
  transfers: TransferIndex,
  hasPaidOthers: (wallet: string) => boolean,
): Set<Settlement> {
  const found = new Set<Settlement>()
  const cohorts = Map.groupBy(findFirstPayments(settlements).values(), ({ amount }) => amount)
  for (const [amount, cohort] of cohorts) {
    if (cohort.length < WASH.burst.cohort || !isCrowded(cohort)) continue
    const payers = new Set(cohort.map(({ payer }) => normalizeWallet(payer)))
    const isOneHand =
      hasCommonFunder(cohort, transfers) || ![...payers].some((wallet) => hasPaidOthers(wallet))
    if (!isOneHand) continue
    for (const settlement of settlements)
      if (settlement.amount === amount && payers.has(normalizeWallet(settlement.payer)))
        found.add(settlement)
  }
  return found
}

function isCrowded(cohort: readonly Settlement[]): boolean {
  const { share, windowMs } = WASH.burst
  const times = cohort.map(({ at }) => at).sort((a, b) => a - b)
  const needed = Math.ceil(share * times.length)
  return times.some((start, index) => {
    const last = times[index + needed - 1]
    return last !== undefined && last - start <= windowMs
  })
}

/** Whether one wallet had sent money to at least half of the cohort before they paid. */
function hasCommonFunder(cohort: readonly Settlement[], transfers: TransferIndex): boolean {
  const fundedBy = new Map<string, number>()
  for (const first of cohort) {
    for (const funder of findFunders(first, transfers).keys())
      fundedBy.set(funder, (fundedBy.get(funder) ?? 0) + 1)
  }
  const needed = WASH.burst.funderShare * cohort.length
  return [...fundedBy.values()].some((funded) => funded >= needed)
}
