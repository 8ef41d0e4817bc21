import type { Settlement, Transfer } from '../settlement/settlement.ts'
import { normalizeWallet, WASH } from './wash-rules.ts'

/**
 * Bursts of first-time payers of one same amount: many wallets, one hand. Fast sales alone are no
 * proof (a launch looks like that too), so a second sign is asked for.
 *
 * @returns every settlement of a cohort's payers in that amount.
 */
export function findBursts(
  settlements: readonly Settlement[],
  transfers: readonly Transfer[],
): Set<Settlement> {
  const found = new Set<Settlement>()
  for (const cohort of toCohorts(settlements)) {
    if (cohort.length < WASH.burst.cohort || !isCrowded(cohort)) continue
    if (!hasSecondSign(cohort, settlements, transfers)) continue
    const payers = new Set(cohort.map(({ payer }) => normalizeWallet(payer)))
    const amount = cohort[0]?.amount
    for (const settlement of settlements)
      if (settlement.amount === amount && payers.has(normalizeWallet(settlement.payer)))
        found.add(settlement)
  }
  return found
}

/** Each payer's first settlement, grouped by amount. */
function toCohorts(settlements: readonly Settlement[]): Settlement[][] {
  const first = new Map<string, Settlement>()
  for (const settlement of settlements) {
    const wallet = normalizeWallet(settlement.payer)
    const known = first.get(wallet)
    if (known === undefined || isBefore(settlement, known)) first.set(wallet, settlement)
  }
  return [...Map.groupBy(first.values(), ({ amount }) => amount).values()]
}

/** A fixed order for equal times, so that the same payments give the same verdict. */
function isBefore(one: Settlement, other: Settlement): boolean {
  if (one.at !== other.at) return one.at < other.at
  return one.transaction === other.transaction
    ? one.log_index < other.log_index
    : one.transaction < other.transaction
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

function hasSecondSign(
  cohort: readonly Settlement[],
  all: readonly Settlement[],
  transfers: readonly Transfer[],
): boolean {
  return hasCommonFunder(cohort, transfers) || isEvenlySpaced(cohort) || isOneShot(cohort, all)
}

function hasCommonFunder(cohort: readonly Settlement[], transfers: readonly Transfer[]): boolean {
  const payers = new Set(cohort.map(({ payer }) => normalizeWallet(payer)))
  const fundedBy = new Map<string, Set<string>>()
  for (const { from, to } of transfers) {
    if (!payers.has(normalizeWallet(to))) continue
    const funder = normalizeWallet(from)
    fundedBy.set(funder, (fundedBy.get(funder) ?? new Set()).add(normalizeWallet(to)))
  }
  const needed = WASH.burst.funderShare * cohort.length
  return [...fundedBy.values()].some((funded) => funded.size >= needed)
}

/** Gaps between payments that differ by less than a clock's whim. */
function isEvenlySpaced(cohort: readonly Settlement[]): boolean {
  const times = cohort.map(({ at }) => at).sort((a, b) => a - b)
  const gaps = times.slice(1).map((time, index) => time - (times[index] ?? time))
  const mean = gaps.reduce((sum, gap) => sum + gap, 0) / gaps.length
  if (!(mean > 0)) return true
  const variance = gaps.reduce((sum, gap) => sum + (gap - mean) ** 2, 0) / gaps.length
  return Math.sqrt(variance) / mean <= WASH.burst.spacingVariation
}

/** The cohort is nearly everybody who ever paid, and nearly nobody of it paid again. */
function isOneShot(cohort: readonly Settlement[], all: readonly Settlement[]): boolean {
  const payers = new Set(cohort.map(({ payer }) => normalizeWallet(payer)))
  const counts = new Map<string, number>()
  for (const { payer } of all) {
    const wallet = normalizeWallet(payer)
    counts.set(wallet, (counts.get(wallet) ?? 0) + 1)
  }
  const once = [...payers].filter((wallet) => counts.get(wallet) === 1).length
  const needed = WASH.burst.oneShotShare
  return once >= needed * payers.size && payers.size >= needed * counts.size
}
