import { largestOf } from '../wire/json.ts'
import { DAY_MS } from '../wire/shapes.ts'
import { type Day, type Measured, OWN_EVIDENCE } from './evidence.ts'
import {
  createPayeeLookup,
  type LedgerPayee,
  type LedgerPayment,
  WINDOW_MS,
  windowOf,
} from './ledger-facts.ts'
import { COUNTED_SCHEMES } from './payments.ts'
import { TRUST } from './trust.ts'
import { BRIDGED_COINS } from './usd-assets.ts'
import { WASH_FLAGS } from './wash.ts'

/** The number of windows that are kept: the current one and the two before it, ninety days in all. */
const WINDOWS = 3
/** How far back payments are read, including the window. */
export const HISTORY_MS = WINDOW_MS * WINDOWS

interface Ledger {
  /** End of the window, ISO 8601. */
  as_of: string
  payments: readonly LedgerPayment[]
  /** Payouts that the meter reads, including those that received no payments. */
  payees: readonly LedgerPayee[]
  /** Domains of sellers that are known to be independent. */
  seeds: ReadonlySet<string>
}

export interface ListingScore {
  measured: Measured
  /** The largest number of listings that share one of the listing's counted payments, at least 1. */
  sharers: number
  /** The weight of each payer in the window, in millionths; full if the rule does not apply. */
  buyers: ReadonlyMap<string, number>
}

/** Each listing's figures from the published rows, with the same digits in any order of rows. */
export function scoreListings(ledger: Ledger): {
  listings: Map<string, ListingScore>
  /** How many known sellers were paid by enough people in the window. */
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
 * Whether a payment in the window was counted for a listing, with known sellers who vouch for the
 * buyer there: other facts about a sale, such as deliveries, may depend on this.
 * @param score that listing's score
 */
export function isVouchedSale(
  { payer, verdict }: Pick<LedgerPayment, 'payer' | 'verdict'>,
  score: ListingScore | undefined,
): boolean {
  // If the rule does not apply, everybody is counted, and nobody is vouched for.
  if (score?.measured.unknown_buyers_30d === undefined) return false
  return verdict === 'counted' && (score.buyers.get(payer) ?? 0) > 0
}

function toPurchase({ at, usd_micro, listings }: LedgerPayment, owner: string): Purchase {
  return { day: Math.floor(at / DAY_MS), micros: usd_micro, owner, listings }
}

const MICRO = 1_000_000
/** From this many payers on, the largest is limited: with fewer, a stranger who also pays helps the seller. */
const FEWEST_PAYERS = 3

interface Counts {
  buyers: number
  settlements: number
  /** US dollars. */
  volume: number
}

/**
 * Each payment is counted with its payer's weight. At most ten payments and ten dollars are counted
 * per payer; if there are three payers or more, no payer is counted with more dollars than all
 * others together. Otherwise a rival could take most of a score with one payment, because the
 * largest buyer's share lowers it.
 * @param rows the counted rows in one window
 * @param weigh returns the weight of some payments' payer at each listing, in millionths; null if
 *   the rule does not apply, so that everybody is counted in full
 * @returns the shares by listing
 */
function countShares(
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

function groupByListing<Row extends LedgerPayment>(rows: readonly Row[]): Map<string, Row[]> {
  const found = new Map<string, Row[]>()
  for (const row of rows) for (const id of row.listings) addTo(found, id, row)
  return found
}

function addTo<Value>(lists: Map<string, Value[]>, key: string, value: Value): void {
  const own = lists.get(key)
  if (own === undefined) lists.set(key, [value])
  else own.push(value)
}

/** The total of one payer's payments at one listing; all in millionths. */
function toShare(payer: string, rows: readonly LedgerPayment[], weight: number) {
  const { settlements, volumeUsd } = TRUST.perPayer
  return {
    payer,
    rows,
    weight,
    settlements: weight * Math.min(rows.length, settlements),
    micros: Math.floor((weight * Math.min(sumOf(rows), volumeUsd * MICRO)) / FULL),
  }
}
type Share = ReturnType<typeof toShare>

function sumOf(rows: readonly LedgerPayment[]): number {
  return rows.reduce((sum, { usd_micro }) => sum + usd_micro, 0)
}

/** One listing's counted payments in one window. */
type Shares = ReturnType<typeof toShares>

function toShares(shares: readonly Share[]) {
  const all = shares.reduce((sum, { micros }) => sum + micros, 0)
  const most = shares.reduce((largest, { micros }) => Math.max(largest, micros), 0)
  const limit = shares.length < FEWEST_PAYERS ? most : Math.min(most, all - most)
  const kept = shares.map((share) => ({ ...share, micros: Math.min(share.micros, limit) }))
  const buyers = kept.reduce((sum, { weight }) => sum + weight, 0)
  const micros = kept.reduce((sum, share) => sum + share.micros, 0)
  const rows = kept.flatMap((share) => share.rows)
  const networks = Map.groupBy(rows, ({ network }) => network)
  return {
    // Each payer's weight, in millionths; payers that are not counted are left out.
    weights: new Map(kept.map(({ payer, weight }) => [payer, weight])),
    buyers: buyers / FULL,
    settlements: kept.reduce((sum, { settlements }) => sum + settlements, 0) / FULL,
    // US dollars.
    volume: micros / MICRO,
    topShare: toTopShare(limit, { buyers, micros }),
    // Counts by day since the epoch (UTC).
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
 * The share of the largest of n buyers is at least 1/n: otherwise many buyers with small weights
 * would make a cheat look less concentrated.
 */
function toTopShare(top: number, { buyers, micros }: { buyers: number; micros: number }): number {
  if (micros === 0) return 0
  return Math.min(1, Math.max(top / micros, FULL / Math.max(buyers, 1)))
}

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

interface Paid {
  as_of: string
  /** Payments in the window, including uncounted ones. */
  rows: readonly LedgerPayment[]
  /** Counted payments by window: the current window first, then the earlier windows. */
  windows: readonly (Shares | undefined)[]
  /** Whether enough known sellers are measured to tell who is independent. */
  holds: boolean
}

/** One listing's numbers, in the form used in evidence. */
function toMeasured({ as_of, rows, windows, holds }: Paid): Measured {
  const [window] = windows
  const paidBy = COUNTED_SCHEMES.filter((scheme) => window?.schemes.has(scheme))
  const known = rows.filter(({ verdict }) => verdict === 'counted')
  return {
    source: OWN_EVIDENCE,
    as_of,
    verified_buyers_30d: window?.buyers ?? 0,
    settlements_30d: window?.settlements ?? 0,
    volume_usd_30d: window?.volume ?? 0,
    top_buyer_share_30d: window?.topShare ?? 0,
    last_settlement_at: window === undefined ? null : new Date(window.last).toISOString(),
    shared_payout: false,
    ...(holds && { unknown_buyers_30d: countPayers(known) - (window?.weights.size ?? 0) }),
    ...(paidBy.length > 0 && { paid_by: paidBy }),
    wash_flags: WASH_FLAGS.map((flag) => ({ flag, settlements: countOf(rows, flag) })).filter(
      ({ settlements }) => settlements > 0,
    ),
    watch: [
      ...toUntracedWatch(countOf(rows, 'payer_untraced')),
      ...toBridgedWatch(window?.networks ?? new Map()),
    ],
    // Shown next to the counted numbers, so that nobody has to trust what was left out.
    raw: {
      payers: countPayers(rows),
      settlements: rows.length,
      volume_usd: rows.reduce((sum, { usd_micro }) => sum + usd_micro, 0) / MICRO,
    },
    days: toSeries(windows, as_of),
  }
}

function countOf(rows: readonly LedgerPayment[], wanted: LedgerPayment['verdict']): number {
  return rows.filter(({ verdict }) => verdict === wanted).length
}

function countPayers(rows: readonly LedgerPayment[]): number {
  return new Set(rows.map(({ payer }) => payer)).size
}

function toUntracedWatch(count: number): Measured['watch'] {
  const note = `${count} payments are not counted yet: we do not know yet where their payers got the money.`
  return count === 0 ? [] : [{ id: 'payers_untraced', note }]
}

/** A sentence next to the score about payments in coins that a bridge redeems instead of their issuer. */
function toBridgedWatch(networks: ReadonlyMap<string, number>): Measured['watch'] {
  return BRIDGED_COINS.flatMap(({ network, name }) => {
    const paid = networks.get(network) ?? 0
    const note = `${paid} of these payments were made in ${name}, a bridged coin: a bridge redeems this coin, its issuer does not.`
    return paid === 0 ? [] : [{ id: 'bridged_coin', note }]
  })
}

/** The days with payments, and the window's last day, so that a chart ends where the window does. */
function toSeries(windows: readonly (Shares | undefined)[], as_of: string): Day[] {
  const lastDay = Math.floor(Date.parse(as_of) / DAY_MS)
  const counts = [
    ...windows.flatMap((window) => [...(window?.days ?? [])]),
    [lastDay, null] as const,
  ]
  const byDay = [...Map.groupBy(counts, ([day]) => day)].sort(([a], [b]) => a - b)
  return byDay.map(([day, own]) => {
    // Rounded to millionths: a sum of fractions depends on the order of its parts.
    const sum = (of: 'settlements' | 'volume' | 'buyers') =>
      Math.round(own.reduce((all, [, part]) => all + (part?.[of] ?? 0), 0) * MICRO) / MICRO
    return {
      date: new Date(day * DAY_MS).toISOString().slice(0, 10),
      settlements: sum('settlements'),
      volume_usd: sum('volume'),
      buyers: sum('buyers'),
    }
  })
}

/** What makes a buyer known, and how its money is spread. Dollars are millionths, so that sums are exact. */
export const VOUCHING = {
  /** What a buyer must pay known sellers for each listing, to be counted there in full. */
  microsAListing: 260_000,
  /** How much of a buyer's payments to a listing on one day (UTC) is counted as custom. */
  customADay: 200_000,
  /** The most custom that one buyer can have at one listing. */
  mostCustom: 600_000,
  /** How many known sellers must be measured for the rule to apply. */
  measuredSeeds: 3,
  /** What buyers must pay a known seller for it to be measured; each buyer adds at most one listing's amount. */
  microsAMeasuredSeed: 2_600_000,
} as const

/** Every way that we found to invent buyers for this score costs at least this much (US dollars per listing). */
export const CHEATING = { score: 60, usd: 5 } as const

/** The weight of a buyer that is counted in full. */
export const FULL = 1_000_000

/** The fields of a buyer's payment that the rule uses. */
export interface Purchase {
  /** Days since the epoch, UTC. */
  day: number
  micros: number
  /** The seller's domain. */
  owner: string
  listings: readonly string[]
}

/**
 * A buyer's weight at each listing it bought from, in millionths. This depends only on its own
 * payments in the window, in any order, and on the list of known sellers.
 *
 * What it paid known sellers is spread over the other listings it bought from, by the square of its
 * custom there, up to 26 cents each; any excess goes to the others likewise. At a known seller's
 * listing its weight comes from what it paid other known sellers; that money is spread all the
 * same.
 * @returns weights by listing; empty for a buyer who paid no known seller
 */
export function weighBuyer(
  purchases: readonly Purchase[],
  seeds: ReadonlySet<string>,
): Map<string, number> {
  const toSeeds = new Map<string, number>()
  for (const { owner, micros } of purchases)
    if (seeds.has(owner)) toSeeds.set(owner, (toSeeds.get(owner) ?? 0) + micros)
  const given = [...toSeeds.values()].reduce((sum, micros) => sum + micros, 0)
  if (given === 0) return new Map()
  const weights = spread(given, readCustom(purchases.filter(({ owner }) => !seeds.has(owner))))
  for (const { owner, listings } of purchases) {
    const others = given - (toSeeds.get(owner) ?? 0)
    if (seeds.has(owner)) for (const id of listings) weights.set(id, toWeight(others))
  }
  return weights
}

/**
 * The known sellers paid by enough people for the rule to apply. Additional payments never remove a seller, so that
 * nobody can end the rule; triggering the rule costs as much as ten buyers at each of these sellers.
 * @param payments the window's counted payments
 */
export function findMeasuredSeeds<Payment extends { payer: string; usd_micro: number }>(
  payments: readonly Payment[],
  ownerOf: (payment: Payment) => string,
  seeds: ReadonlySet<string>,
): string[] {
  const paid = new Map<string, Map<string, number>>()
  for (const payment of payments) {
    const owner = ownerOf(payment)
    if (!seeds.has(owner)) continue
    const own = paid.get(owner) ?? new Map<string, number>()
    paid.set(owner, own.set(payment.payer, (own.get(payment.payer) ?? 0) + payment.usd_micro))
  }
  const { microsAListing, microsAMeasuredSeed } = VOUCHING
  return [...seeds].filter((owner) => {
    const given = [...(paid.get(owner)?.values() ?? [])]
    const sum = given.reduce((all, micros) => all + Math.min(micros, microsAListing), 0)
    return sum >= microsAMeasuredSeed
  })
}

/** Custom in millionths of a dollar, by listing. A payment for several listings is divided equally among them. */
function readCustom(purchases: readonly Purchase[]): Map<string, number> {
  const days = new Map<string, Map<number, number>>()
  for (const { day, micros, listings } of purchases)
    for (const id of listings) {
      const own = days.get(id) ?? new Map<number, number>()
      days.set(id, own.set(day, (own.get(day) ?? 0) + Math.floor(micros / listings.length)))
    }
  const { customADay, mostCustom } = VOUCHING
  return new Map(
    [...days].map(([id, own]) => {
      const custom = [...own.values()].reduce((sum, paid) => sum + Math.min(paid, customADay), 0)
      return [id, Math.min(custom, mostCustom)]
    }),
  )
}

/** All numbers are integers: two readers of the same payments get the same digits. */
function spread(given: number, custom: ReadonlyMap<string, number>): Map<string, number> {
  const claims = [...custom]
    .map(([id, micros]) => ({ id, claim: BigInt(micros) ** 2n }))
    .sort((a, b) => Number(b.claim - a.claim))
  let left = BigInt(given)
  let all = claims.reduce((sum, { claim }) => sum + claim, 0n)
  const full = BigInt(VOUCHING.microsAListing)
  const weights = new Map<string, number>()
  for (const { id, claim } of claims) {
    const share = all === 0n ? 0n : (left * claim) / all
    weights.set(id, toWeight(Number(share)))
    // The largest claims come first: after the first that stays below the limit, all get the same proportion.
    if (share < full) continue
    left -= full
    all -= claim
  }
  return weights
}

function toWeight(micros: number): number {
  return Math.floor((Math.min(micros, VOUCHING.microsAListing) * FULL) / VOUCHING.microsAListing)
}
