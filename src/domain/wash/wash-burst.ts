import type { Settlement } from '../settlement/settlement.ts'
import { findFirstPayments, findFunders, type TransferIndex } from './chain-order.ts'
import { normalizeWallet, WASH } from './wash-rules.ts'

/**
 * Bursts of first-time payers of one same amount: many wallets, one hand. Fast sales alone are no
 * proof (a launch looks like that too), so a second sign is asked for.
 *
 * Left out are the wallets of the crowded half hour alone: else a rival, for a few cents, could send a
 * crowd that takes a seller's real buyers with it.
 *
 * @returns every settlement of those payers in that amount.
 */
export function findBursts(
  settlements: readonly Settlement[],
  transfers: TransferIndex,
  hasPaidOthers: (wallet: string) => boolean,
): Set<Settlement> {
  const found = new Set<Settlement>()
  const cohorts = Map.groupBy(findFirstPayments(settlements).values(), ({ amount }) => amount)
  for (const [amount, cohort] of cohorts) {
    const crowd = cohort.length < WASH.burst.cohort ? [] : findCrowd(cohort)
    if (crowd.length === 0) continue
    const isSilent = !cohort.some(({ payer }) => hasPaidOthers(normalizeWallet(payer)))
    if (!isSilent && !isOfOneFunder(cohort, transfers)) continue
    const payers = new Set(crowd.map(({ payer }) => normalizeWallet(payer)))
    for (const settlement of settlements)
      if (settlement.amount === amount && payers.has(normalizeWallet(settlement.payer)))
        found.add(settlement)
  }
  return found
}

/** Those whose first payment lies in a half hour that holds most of the cohort. */
function findCrowd(cohort: readonly Settlement[]): Settlement[] {
  const { share, windowMs } = WASH.burst
  const times = cohort.map(({ at }) => at).sort((a, b) => a - b)
  const needed = Math.ceil(share * times.length)
  const starts = times.filter((start, index) => {
    const last = times[index + needed - 1]
    return last !== undefined && last - start <= windowMs
  })
  return cohort.filter(({ at }) => starts.some((start) => at >= start && at - start <= windowMs))
}

/**
 * Whether one wallet had sent money to half of the cohort before they paid. One that sent as many
 * payers of others theirs is an exchange, and holds nobody together.
 */
function isOfOneFunder(cohort: readonly Settlement[], transfers: TransferIndex): boolean {
  const fundedBy = new Map<string, number>()
  for (const first of cohort)
    for (const funder of findFunders(first, transfers).keys())
      fundedBy.set(funder, (fundedBy.get(funder) ?? 0) + 1)
  const needed = WASH.burst.funderShare * cohort.length
  return [...fundedBy].some(
    ([funder, count]) => count >= needed && transfers.countReceivers(funder) < 2 * count,
  )
}
