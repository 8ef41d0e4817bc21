import { FULL } from '../independence/weigh-buyer.ts'
import type { LedgerPayment } from './ledger-payment.ts'
import { TRUST } from './trust.ts'

const MICRO = 1_000_000
/** Below that the largest buyer is most of the business, and a stranger who joins them helps. */
const FEWEST_PAYERS = 3

/** What one payer's payments come to at one listing; all in millionths. */
interface Share {
  rows: readonly LedgerPayment[]
  weight: number
  settlements: number
  micros: number
}

/** What counts of one listing's payments in one window. */
export type Shares = ReturnType<typeof countShares>

/**
 * Each payment counts by its payer's weight. Of one payer count at most ten payments and ten dollars; and
 * of three payers or more none counts for more dollars than all others together. Without that a rival
 * takes most of a seller's score away by one payment, as the largest buyer's share lowers it.
 *
 * @param weightOf millionths; null where the rule does not hold, and everybody counts in full
 */
export function countShares(
  rows: readonly LedgerPayment[],
  weightOf: (payer: string) => number | null,
) {
  const known = rows.filter(({ payer }) => weightOf(payer) !== 0)
  const shares = [...Map.groupBy(known, ({ payer }) => payer)].map(([payer, own]) => ({
    payer,
    ...toShare(own, weightOf(payer) ?? FULL),
  }))
  const all = shares.reduce((sum, { micros }) => sum + micros, 0)
  const most = shares.reduce((largest, { micros }) => Math.max(largest, micros), 0)
  const limit = shares.length < FEWEST_PAYERS ? most : Math.min(most, all - most)
  const kept = shares.map((share) => ({ ...share, micros: Math.min(share.micros, limit) }))
  const buyers = kept.reduce((sum, { weight }) => sum + weight, 0)
  const micros = kept.reduce((sum, share) => sum + share.micros, 0)
  return {
    shares: kept,
    weights: new Map(kept.map(({ payer, weight }) => [payer, weight])),
    buyers: buyers / FULL,
    settlements: kept.reduce((sum, { settlements }) => sum + settlements, 0) / FULL,
    volume: micros / MICRO,
    topShare: toTopShare(limit, { buyers, micros }),
  }
}

function toShare(rows: readonly LedgerPayment[], weight: number): Share {
  const { settlements, volumeUsd } = TRUST.perPayer
  const paid = rows.reduce((sum, { usd_micro }) => sum + usd_micro, 0)
  return {
    rows,
    weight,
    settlements: weight * Math.min(rows.length, settlements),
    micros: Math.floor((weight * Math.min(paid, volumeUsd * MICRO)) / FULL),
  }
}

/**
 * The largest of so many buyers holds at least its part of them: else a cheat would look less
 * concentrated by many buyers that count for little.
 */
function toTopShare(top: number, { buyers, micros }: { buyers: number; micros: number }): number {
  if (micros === 0) return 0
  return Math.min(1, Math.max(top / micros, FULL / Math.max(buyers, 1)))
}
