import { judgePayouts, listPayees, type PayoutFacts } from '../../../src/derive/payouts.ts'
import type { Transfer } from '../../../src/domain/trust/payments.ts'
import { scoreListings, VOUCHING } from '../../../src/domain/trust/score-listings.ts'
import { judgeTrust } from '../../../src/domain/trust/trust.ts'
import { judgeSeen, type SeenPayment } from '../../support/judge-seen.ts'
import { createRandom } from '../../support/random.ts'

/** Known sellers, small shops, and people who buy from some of them; the same for the same seed. */
export interface Market {
  seeds: readonly string[]
  shops: readonly string[]
  payments: readonly Paid[]
}

/** A payment, with the shop that was paid. */
export interface Paid extends SeenPayment {
  shop: string
}

export interface MarketShape {
  buyers: number
  shops: number
  /** Shops a buyer uses, at least and at most. */
  uses: readonly [number, number]
  /** What a buyer spends at a shop in the month: half of them more, half less. */
  medianUsd: number
  /** Share of uses that go to a known seller. */
  seedShare: number
}

export const AS_OF = Date.UTC(2026, 0, 31)
export const DAY_MS = 86_400_000
/** What a buyer leaves with known sellers for each listing where it counts in full. */
export const FULL_USD = VOUCHING.microsAListing / 1_000_000
const NETWORK = 'eip155:8453'
const SEEDS = 5

/** What people spend and where is a guess: nobody has published it. */
export const MARKETS = {
  /** Half of what they use is on the list of known sellers. */
  rich: { buyers: 600, shops: 40, uses: [2, 6], medianUsd: 1.5, seedShare: 0.5 },
  middle: { buyers: 600, shops: 40, uses: [2, 4], medianUsd: 0.6, seedShare: 0.25 },
} as const satisfies Record<string, MarketShape>

export function createMarket(shape: MarketShape, seed: number): Market {
  const random = createRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const seeds = Array.from({ length: SEEDS }, (_, n) => `seed-${n}`)
  const shops = Array.from({ length: shape.shops }, (_, n) => `shop-${n}`)
  // Some shops are used far more than others.
  const pick = () =>
    random() < shape.seedShare
      ? seeds[below(SEEDS)]
      : shops[Math.floor(shape.shops * random() ** 2)]
  const [least, most] = shape.uses
  const payments = Array.from({ length: shape.buyers }, (_, buyer) => {
    const used = new Set<string>()
    for (const wanted = least + below(most - least + 1); used.size < wanted; )
      used.add(pick() ?? '')
    return [...used].flatMap((shop) => {
      // Log-normal, by Box and Muller.
      const spread = Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
      const usd = shape.medianUsd * Math.exp(spread)
      return pay({ payer: `buyer-${buyer}`, shop, usd, times: 1 + below(5), random })
    })
  }).flat()
  return { seeds, shops, payments }
}

let made = 0

/** What one wallet pays one shop over the month, in some payments of one size. */
export function pay(facts: {
  payer: string
  shop: string
  usd: number
  times?: number
  random?: () => number
  at?: number
  payee?: string
}): Paid[] {
  const { payer, shop, usd, times = 1, random = () => 0.5, at, payee = payoutOf(shop) } = facts
  const amount = Math.max(1, Math.round((usd / times) * 1_000_000))
  return Array.from({ length: times }, () => ({
    network: NETWORK,
    transaction: `payment-${made++}`,
    log: 0,
    shop,
    listing_id: null,
    payer,
    payee,
    usd: amount / 1_000_000,
    amount: String(amount),
    at: Math.round(at ?? AS_OF - 1 - random() * 7 * DAY_MS),
    block: null,
    scheme: null,
  }))
}

export function send(facts: Pick<Transfer, 'from' | 'to' | 'at'> & { usd: number }): Transfer {
  const { from, to, usd, at } = facts
  const amount = String(Math.round(usd * 1_000_000))
  const transaction = `transfer-${made++}`
  const moment = { network: NETWORK, transaction, log: 0, at, block: null }
  return { ...moment, from, to, amount, from_contract: false }
}

/** Where a shop takes its money. */
export function payoutOf(shop: string): string {
  return `payout-of-${shop}`
}

export function toCaip10(wallet: string): string {
  return `${NETWORK}:${wallet}`
}

/** What an attack adds to a market. */
export interface Moves {
  payments?: readonly Paid[]
  transfers?: readonly Transfer[]
  /** Listings that are not of the market, or whose payouts are not what they were. */
  listings?: readonly PayoutFacts[]
}

/** Scores by listing, 0 for none; as the product judges them. */
export type Judge = (moves: Moves) => {
  scoreOf(listing: string): number
  /** With the parts of those that count in part. */
  buyersOf(listing: string): number
}

/** @param measured whether the known sellers are */
export function createJudge(market: Market, measured = true): Judge {
  const known = [...market.seeds, ...market.shops].map((shop) => toListing(shop))
  const seeds = new Set(measured ? market.seeds.map((seed) => `${seed}.example`) : [])
  return ({ payments = [], transfers = [], listings = [] }) => {
    const isKnown = new Set([...market.seeds, ...market.shops])
    const added = new Set(payments.map(({ shop }) => shop).filter((shop) => !isKnown.has(shop)))
    const facts = new Map(
      [...known, ...[...added].map((shop) => toListing(shop)), ...listings].map((one) => [
        one.id,
        one,
      ]),
    )
    const payees = listPayees([...facts.values()], judgePayouts([...facts.values()]))
    const rows = judgeSeen([...market.payments, ...payments], {
      asOf: AS_OF,
      payees,
      transfers,
      hasPaidElsewhere: () => false,
    })
    const as_of = new Date(AS_OF).toISOString()
    const scores = scoreListings({ as_of, payments: rows, payees, seeds }).listings
    return {
      scoreOf(id) {
        const { measured: own, sharers = 1 } = scores.get(id) ?? {}
        const verdict = judgeTrust(own, sharers, as_of)
        return verdict.evidence === 'verified_non_wash_payments' ? verdict.score : 0
      },
      buyersOf: (id) => scores.get(id)?.measured.verified_buyers_30d ?? 0,
    }
  }
}

export function toListing(id: string, changes: Partial<PayoutFacts> = {}): PayoutFacts {
  return {
    id,
    owner: `${id}.example`,
    published: [toCaip10(payoutOf(id))],
    proven: [],
    ...changes,
  }
}
