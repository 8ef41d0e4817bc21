import { FULL } from '../independence/weigh-buyer.ts'
import { largestOf } from '../wire/extremes.ts'
import type { LedgerPayment } from './ledger-payment.ts'
import { TRUST } from './trust.ts'

const MICRO = 1_000_000
/** Below that the largest buyer is most of the business, and a stranger who joins them helps. */
const FEWEST_PAYERS = 3

/** The total of one payer's payments at one listing; all in millionths. */
interface Share {
  payer: string
  rows: readonly LedgerPayment[]
  weight: number
  settlements: number
  micros: number
}

interface Counts {
  buyers: number
  settlements: number
  /** US dollars. */
  volume: number
}

/** The counted payments of one listing in one window. */
export interface Shares extends Counts {
  /** How much each payer counts, in millionths; those that do not are left out. */
  weights: ReadonlyMap<string, number>
  topShare: number
  /** By day since the epoch (UTC). */
  days: ReadonlyMap<number, Counts>
  /** Milliseconds. */
  last: number
  schemes: ReadonlySet<LedgerPayment['scheme']>
  /** Payments by network. */
  networks: ReadonlyMap<string, number>
}

/**
 * Each payment counts by its payer's weight. At most ten payments and ten dollars count per payer;
 * and of three payers or more none counts for more dollars than all others together. Otherwise a
 * rival could take most of a score with one payment, as the largest buyer's share lowers it.
 *
 * @param rows of one window, those that count
 * @param weigh how much the payer of some payments counts at each listing, in millionths; null where the
 *   rule does not hold, and everybody counts in full
 * @returns by listing
 */
export function countShares(
  rows: readonly LedgerPayment[],
  weigh: ((own: readonly LedgerPayment[]) => ReadonlyMap<string, number>) | null,
): Map<string, Shares> {
  const shares = new Map<string, Share[]>()
  for (const [payer, own] of Map.groupBy(rows, (row) => row.payer)) {
    const weights = weigh?.(own)
    for (const [id, bought] of groupByListing(own)) {
      const weight = weights === undefined ? FULL : (weights.get(id) ?? 0)
      if (weight > 0) addTo(shares, id, toShare(payer, bought, weight))
    }
  }
  return new Map([...shares].map(([id, own]) => [id, toShares(own)]))
}

export function groupByListing<Row extends LedgerPayment>(
  rows: readonly Row[],
): Map<string, Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows) for (const id of row.listings) addTo(found, id, row)
  return found
}

function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const own = lists.get(key)
  if (own === undefined) lists.set(key, [value])
  else own.push(value)
}

function toShare(payer: string, rows: readonly LedgerPayment[], weight: number): Share {
  const { settlements, volumeUsd } = TRUST.perPayer
  return {
    payer,
    rows,
    weight,
    settlements: weight * Math.min(rows.length, settlements),
    micros: Math.floor((weight * Math.min(sumOf(rows), volumeUsd * MICRO)) / FULL),
  }
}

function sumOf(rows: readonly LedgerPayment[]): number {
  return rows.reduce((sum, { usd_micro }) => sum + usd_micro, 0)
}

function toShares(shares: readonly Share[]): Shares {
  const all = shares.reduce((sum, { micros }) => sum + micros, 0)
  const most = shares.reduce((largest, { micros }) => Math.max(largest, micros), 0)
  const limit = shares.length < FEWEST_PAYERS ? most : Math.min(most, all - most)
  const kept = shares.map((share) => ({ ...share, micros: Math.min(share.micros, limit) }))
  const buyers = kept.reduce((sum, { weight }) => sum + weight, 0)
  const micros = kept.reduce((sum, share) => sum + share.micros, 0)
  const rows = kept.flatMap((share) => share.rows)
  const networks = Map.groupBy(rows, ({ network }) => network)
  return {
    weights: new Map(kept.map(({ payer, weight }) => [payer, weight])),
    buyers: buyers / FULL,
    settlements: kept.reduce((sum, { settlements }) => sum + settlements, 0) / FULL,
    volume: micros / MICRO,
    topShare: toTopShare(limit, { buyers, micros }),
    days: toDays(kept),
    last: largestOf(
      rows.map(({ at }) => at),
      0,
    ),
    schemes: new Set(rows.map(({ scheme }) => scheme)),
    networks: new Map([...networks].map(([network, own]) => [network, own.length])),
  }
}

/**
 * The share of the largest of n buyers is at least 1/n: otherwise many buyers that count for little
 * would make a cheat look less concentrated.
 */
function toTopShare(top: number, { buyers, micros }: { buyers: number; micros: number }): number {
  if (micros === 0) return 0
  return Math.min(1, Math.max(top / micros, FULL / Math.max(buyers, 1)))
}

const DAY_MS = 86_400_000

/** The counted part of each day: a payer's counted total, spread over its payments. */
function toDays(shares: readonly Share[]): Map<number, Counts> {
  const days = new Map<number, Counts>()
  for (const { rows, weight, settlements, micros } of shares) {
    const paid = sumOf(rows)
    for (const [date, own] of Map.groupBy(rows, ({ at }) => Math.floor(at / DAY_MS))) {
      const day = days.get(date) ?? { buyers: 0, settlements: 0, volume: 0 }
      day.buyers += weight / FULL
      day.settlements += (settlements * own.length) / rows.length / FULL
      day.volume += paid === 0 ? 0 : (micros * sumOf(own)) / paid / MICRO
      days.set(date, day)
    }
  }
  return days
}
