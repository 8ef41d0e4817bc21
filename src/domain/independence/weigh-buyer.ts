import * as v from 'valibot'
import { textLike } from '../wire/shapes.ts'

/** What makes a buyer known, and how the money is spread. Dollars are millionths, so that sums are exact. */
export const VOUCHING = {
  /** What a buyer pays known sellers per listing where it counts in full. */
  microsAListing: 260_000,
  /** The most of a buyer's payments to a listing on one day (UTC) that is custom. */
  customADay: 200_000,
  /** The most custom that a buyer has at one listing. */
  mostCustom: 600_000,
  /** How many known sellers must be measured for the rule to apply. */
  measuredSeeds: 3,
  /** What buyers must pay a known seller for it to be measured; each counts up to one listing's. */
  microsAMeasuredSeed: 2_600_000,
} as const

/** The price of cheating: no way that we found to invent buyers for this score costs less (US dollars a listing). */
export const CHEATING = { score: 60, usd: 5 } as const

/** A weight of one: the buyer counts in full. */
export const FULL = 1_000_000

/** The fields of a buyer's payment that the rule reads. */
export interface Purchase {
  /** Since the epoch, UTC. */
  day: number
  micros: number
  /** The seller's domain. */
  owner: string
  listings: readonly string[]
}

/**
 * How much a buyer counts at each listing it bought from, in millionths: by its own payments of the window
 * and the list of known sellers alone, in any order.
 *
 * Its payments to known sellers are spread over the other listings it bought from, by the square of
 * its custom there, up to 26 cents each; any excess goes to the others likewise. At a known
 * seller's listing it counts by what it paid other known sellers, which takes nothing from anybody.
 *
 * @returns by listing; empty for a buyer who paid no known seller
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
 * The known sellers that enough people paid for the rule to apply. Additional payments never remove
 * one, so that nobody can end the rule; to trigger it costs as much as ten buyers at each.
 *
 * @param payments of the window that count
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

/** Millionths of a dollar by listing. A payment for several listings is custom of each in equal parts. */
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

/** Integers throughout: two readers of the same payments get the same digits. */
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
    // The largest claims come first: after the first unfilled one, all get the same proportion.
    if (share < full) continue
    left -= full
    all -= claim
  }
  return weights
}

function toWeight(micros: number): number {
  return Math.floor((Math.min(micros, VOUCHING.microsAListing) * FULL) / VOUCHING.microsAListing)
}

const oneLine = (most: number) => v.pipe(v.string(), v.minLength(1), v.maxLength(most))

/** `content/tables/independent_operators.yaml`: seeds of independence, by registrable domain. */
export const IndependentOperatorSchema = v.strictObject({
  domain: textLike(
    /^(?:[a-z0-9]+(?:-+[a-z0-9]+)*\.)+[a-z0-9]+(?:-+[a-z0-9]+)*$/,
    'expected a registrable domain in lower case such as shop.example',
  ),
  name: oneLine(80),
  /** Evidence for anybody that it is not a front. */
  why: oneLine(200),
})
