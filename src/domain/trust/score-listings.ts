import { type Purchase, VOUCHING, weighBuyer } from '../independence/weigh-buyer.ts'
import { normalizePayout } from '../listing/caip-account.ts'
import { largestOf } from '../wire/extremes.ts'
import { countShares } from './count-shares.ts'
import type { Measured } from './evidence.ts'
import type { LedgerPayee, LedgerPayment } from './ledger-payment.ts'
import { toMeasured } from './to-measured.ts'
import { TRUST } from './trust.ts'

const DAY_MS = 86_400_000
const WINDOW_MS = TRUST.windowDays * DAY_MS
/** The window, and what is kept of history before it: ninety days in all. */
const WINDOWS = 3
/** How far back payments are looked at, the window included. */
export const HISTORY_MS = WINDOW_MS * WINDOWS

export interface Ledger {
  /** End of the window, ISO 8601. */
  as_of: string
  payments: readonly LedgerPayment[]
  /** Those that the meter reads: a listing of theirs that nobody paid was looked at too. */
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

/** What the published rows say of each listing. The same digits for the same rows, in any order. */
export function scoreListings(ledger: Ledger): {
  listings: Map<string, ListingScore>
  /** Known sellers that were paid in the window. */
  measuredSeeds: number
} {
  const { as_of, payments, payees, seeds } = ledger
  const asOf = Date.parse(as_of)
  const byWindow = Map.groupBy(payments, ({ at }) => windowOf(Date.parse(at), asOf))
  const windows = Array.from({ length: WINDOWS }, (_, n) => byWindow.get(n) ?? [])
  const ownerOf = createOwnerLookup(payees)
  const counted = windows.map((rows) => rows.filter(({ verdict }) => verdict === 'counted'))
  const measured = new Set(counted[0]?.map(ownerOf).filter((one) => seeds.has(one)))
  const holds = measured.size >= VOUCHING.measuredSeeds
  const weights = counted.map((rows) => (holds ? weighBuyers(rows, { seeds, ownerOf }) : null))
  const bought = counted.map(groupByListing)
  const looked = groupByListing(windows[0] ?? [])
  const ids = new Set(payees.flatMap((row) => row.listings))
  for (const rows of [looked, ...bought]) for (const id of rows.keys()) ids.add(id)
  const listings = [...ids].sort().map((id): [string, ListingScore] => {
    const shares = bought.map((rows, n) =>
      countShares(
        rows.get(id) ?? [],
        (payer) => weights[n]?.get(payer)?.get(id) ?? (holds ? 0 : null),
      ),
    )
    return [
      id,
      {
        measured: toMeasured({ as_of, rows: looked.get(id) ?? [], windows: shares, holds }),
        sharers: largestOf(
          (bought[0]?.get(id) ?? []).map((row) => row.listings.length),
          1,
        ),
        buyers: shares[0]?.weights ?? new Map(),
      },
    ]
  })
  return { listings: new Map(listings), measuredSeeds: measured.size }
}

/** The window that ends with `asOf` is 0, the one before it 1; what is later than that has a negative number. */
export function windowOf(at: number, asOf: number): number {
  return Math.floor((asOf - at) / WINDOW_MS)
}

/** End of the day, UTC: two builds of one day are the same bytes. */
export function windowEnd(now: number): number {
  return Math.ceil((now + 1) / DAY_MS) * DAY_MS - 1
}

/** How much each payer counts at each listing, in millionths; who paid no known seller counts nowhere. */
function weighBuyers(
  rows: readonly LedgerPayment[],
  { seeds, ownerOf }: { seeds: ReadonlySet<string>; ownerOf: (row: LedgerPayment) => string },
) {
  const givers = new Set(rows.filter((row) => seeds.has(ownerOf(row))).map(({ payer }) => payer))
  const known = rows.filter(({ payer }) => givers.has(payer))
  const weights = new Map<string, Map<string, number>>()
  for (const [payer, own] of Map.groupBy(known, (row) => row.payer)) {
    const purchases = own.map((row) => toPurchase(row, ownerOf(row)))
    weights.set(payer, weighBuyer(purchases, seeds))
  }
  return weights
}

function toPurchase({ at, usd_micro, listings }: LedgerPayment, owner: string): Purchase {
  return { day: at.slice(0, 10), micros: usd_micro, owner, listings }
}

/** By network first: a text put together for each of a million payments would be hashed each time. */
function createOwnerLookup(payees: readonly LedgerPayee[]) {
  const networks = new Map<string, Map<string, string>>()
  for (const { payee, owner } of payees) {
    const account = normalizePayout(payee)
    const at = account.lastIndexOf(':')
    const network = account.slice(0, at)
    const owners = networks.get(network) ?? new Map<string, string>()
    networks.set(network, owners.set(account.slice(at + 1), owner))
  }
  return ({ network, payee }: LedgerPayment): string => networks.get(network)?.get(payee) ?? ''
}

function groupByListing<Row extends LedgerPayment>(rows: readonly Row[]): Map<string, Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows)
    for (const id of row.listings) {
      const own = found.get(id)
      if (own === undefined) found.set(id, [row])
      else own.push(row)
    }
  return found
}
