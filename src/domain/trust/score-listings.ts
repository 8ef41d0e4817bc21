import {
  findMeasuredSeeds,
  type Purchase,
  VOUCHING,
  weighBuyer,
} from '../independence/weigh-buyer.ts'
import { largestOf } from '../wire/extremes.ts'
import { countShares, groupByListing } from './count-shares.ts'
import type { Measured } from './evidence.ts'
import { createPayeeLookup, type LedgerPayee, type LedgerPayment } from './ledger-payment.ts'
import { toMeasured } from './to-measured.ts'
import { TRUST } from './trust.ts'

const DAY_MS = 86_400_000
const WINDOW_MS = TRUST.windowDays * DAY_MS
/** The window, and what is kept of history before it: ninety days in all. */
const WINDOWS = 3
/** How far back payments are read, including the window. */
export const HISTORY_MS = WINDOW_MS * WINDOWS

export interface Ledger {
  /** End of the window, ISO 8601. */
  as_of: string
  payments: readonly LedgerPayment[]
  /** Payouts the meter reads: a listing without payments was read too. */
  payees: readonly LedgerPayee[]
  /** Domains of sellers that are surely independent. */
  seeds: ReadonlySet<string>
}

export interface ListingScore {
  measured: Measured
  /** The most listings that one of its counted payments is for, at least 1. */
  sharers: number
  /** How much each payer of the window counts, in millionths; without the rule each in full. */
  buyers: ReadonlyMap<string, number>
}

/** Figures of each listing from the published rows, with the same digits in any order of rows. */
export function scoreListings(ledger: Ledger): {
  listings: Map<string, ListingScore>
  /** Known sellers that enough people paid in the window. */
  measuredSeeds: number
} {
  const { as_of, payments, payees, seeds } = ledger
  const byWindow = Map.groupBy(payments, ({ at }) => windowOf(at, Date.parse(as_of)))
  const windows = Array.from({ length: WINDOWS }, (_, n) => byWindow.get(n) ?? [])
  const payeeOf = createPayeeLookup(payees)
  const ownerOf = (row: LedgerPayment) => payeeOf(row)?.owner ?? ''
  const counted = windows.map((rows) => rows.filter(({ verdict }) => verdict === 'counted'))
  const measuredSeeds = findMeasuredSeeds(counted[0] ?? [], ownerOf, seeds).length
  const holds = measuredSeeds >= VOUCHING.measuredSeeds
  const weigh = (own: readonly LedgerPayment[]) =>
    weighBuyer(
      own.map((row) => toPurchase(row, ownerOf(row))),
      seeds,
    )
  const shares = counted.map((rows) => countShares(rows, holds ? weigh : null))
  const looked = groupByListing(windows[0] ?? [])
  const ids = new Set(payees.flatMap((row) => row.listings))
  for (const found of [looked, ...shares]) for (const id of found.keys()) ids.add(id)
  const listings = [...ids].sort().map((id): [string, ListingScore] => {
    const rows = looked.get(id) ?? []
    const own = shares.map((window) => window.get(id))
    const sizes = rows.flatMap((row) => (row.verdict === 'counted' ? [row.listings.length] : []))
    return [
      id,
      {
        measured: toMeasured({ as_of, rows, windows: own, holds }),
        sharers: largestOf(sizes, 1),
        buyers: own[0]?.weights ?? new Map(),
      },
    ]
  })
  return { listings: new Map(listings), measuredSeeds }
}

/**
 * Whether a payment of the window counted at a listing and known sellers vouch for its buyer there:
 * other facts about a sale, such as deliveries, may depend on it.
 *
 * @param score of that listing
 */
export function isVouchedSale(
  { payer, verdict }: Pick<LedgerPayment, 'payer' | 'verdict'>,
  score: ListingScore | undefined,
): boolean {
  // Without the rule everybody counts, and nobody is vouched for.
  if (score?.measured.unknown_buyers_30d === undefined) return false
  return verdict === 'counted' && (score.buyers.get(payer) ?? 0) > 0
}

/** The window that ends with `asOf` is 0, the one before it 1; later ones are negative. */
export function windowOf(at: number, asOf: number): number {
  return Math.floor((asOf - at) / WINDOW_MS)
}

function toPurchase({ at, usd_micro, listings }: LedgerPayment, owner: string): Purchase {
  return { day: Math.floor(at / DAY_MS), micros: usd_micro, owner, listings }
}
