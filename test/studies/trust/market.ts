import { judgeSales } from '../../../src/compile/derive/own-evidence.ts'
import { CASH_LIKE_CATEGORY } from '../../../src/domain/independence/vouching.ts'
import { judgePayouts, type PayoutFacts } from '../../../src/domain/owners/payout-standing.ts'
import type { Settlement, Transfer } from '../../../src/domain/settlement/settlement.ts'
import { NO_PAYMENT_FACTS } from '../../../src/domain/trust/ledger-facts.ts'
import { type Sales, toSales } from '../../../src/domain/trust/measured-settlements.ts'
import { judgeTrust } from '../../../src/domain/trust/trust.ts'
import { indexTransfers } from '../../../src/domain/wash/chain-order.ts'
import { createRandom } from './random.ts'

/**
 * An invented market that the product's own rules judge: operators on the list, small shops, and people
 * who buy from some of them. The same for the same seed.
 */
export interface Market {
  seeds: readonly string[]
  shops: readonly string[]
  payments: readonly Settlement[]
}

export interface MarketShape {
  buyers: number
  shops: number
  /** Shops a buyer uses, at least and at most. */
  uses: readonly [number, number]
  /** What a buyer spends at a shop in the month: half of them more, half less. */
  medianUsd: number
  /** Share of uses that go to an operator on the list. */
  seedShare: number
}

export const AS_OF = Date.UTC(2026, 0, 31)
export const DAY_MS = 86_400_000
const NETWORK = 'eip155:8453'
const SEEDS = 5

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
      return pay({
        payer: `buyer-${buyer}`,
        shop,
        usd: shape.medianUsd * Math.exp(spread),
        times: 1 + below(5),
        random,
      })
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
}): Settlement[] {
  const { payer, shop, usd, times = 1, random = () => 0.5, at, payee = payoutOf(shop) } = facts
  const amount = Math.max(1, Math.round((usd / times) * 1_000_000))
  return Array.from({ length: times }, () => ({
    network: NETWORK,
    transaction: `payment-${made++}`,
    log_index: 0,
    listing_id: shop,
    payer,
    payee,
    usd: amount / 1_000_000,
    amount: String(amount),
    at: Math.round(at ?? AS_OF - random() * 7 * DAY_MS),
    block: null,
    scheme: null,
  }))
}

export function send(facts: Pick<Transfer, 'from' | 'to' | 'at'> & { usd: number }): Transfer {
  const { from, to, usd, at } = facts
  const amount = String(Math.round(usd * 1_000_000))
  const transaction = `transfer-${made++}`
  const moment = { network: NETWORK, transaction, log_index: 0, at, block: null }
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
  payments?: readonly Settlement[]
  transfers?: readonly Transfer[]
  /** Listings that are not of the market, or whose payouts are not what they were. */
  listings?: readonly PayoutFacts[]
  cashLike?: readonly string[]
}

/** Scores by listing, 0 for none; as the product judges them. */
export type Judge = (moves: Moves) => {
  scoreOf(listing: string): number
  buyersOf(listing: string): number
}

/** @param measured whether the operators on the list are */
export function createJudge(market: Market, measured = true): Judge {
  const known = [...market.seeds, ...market.shops].map((shop) => toListing(shop))
  const honest = Map.groupBy(market.payments, ({ listing_id }) => listing_id)
  const salesOf = createSalesReader(market)
  const calm = new Map([...honest].map(([id, own]) => [id, salesOf(id, own, {})]))
  return (moves) => {
    const added = Map.groupBy(moves.payments ?? [], ({ listing_id }) => listing_id)
    const changed = new Set([
      ...(moves.transfers === undefined ? [] : honest.keys()),
      ...added.keys(),
    ])
    const sales = new Map(calm)
    for (const id of changed)
      sales.set(id, salesOf(id, [...(honest.get(id) ?? []), ...(added.get(id) ?? [])], moves))
    const listings = new Map(
      [
        ...known,
        ...(moves.listings ?? []),
        ...[...added.keys()].filter((id) => !honest.has(id)).map((id) => toListing(id)),
      ].map((one) => [one.id, one]),
    )
    for (const one of moves.listings ?? []) listings.set(one.id, one)
    const payouts = [...listings.values()]
    const standings = judgePayouts(payouts)
    const metered = new Set(payouts.map(({ id }) => id))
    const { evidence } = judgeSales(
      {
        ...NO_PAYMENT_FACTS,
        asOf: AS_OF,
        sales: new Map([...sales].flatMap(([id, own]) => (own === undefined ? [] : [[id, own]]))),
        metered,
      },
      {
        payouts,
        standings,
        seeds: new Set(measured ? market.seeds.map((seed) => `${seed}.example`) : []),
        categoriesOf: (id) => (moves.cashLike?.includes(id) ? [CASH_LIKE_CATEGORY] : []),
      },
    )
    return {
      scoreOf(id) {
        const verdict = judgeTrust(evidence.get(id), standings.get(id)?.sharers ?? 1)
        return verdict.evidence === 'verified_non_wash_payments' ? verdict.score : 0
      },
      buyersOf: (id) => evidence.get(id)?.verified_buyers_30d ?? 0,
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

function createSalesReader(market: Market) {
  const paidTo = Map.groupBy(market.payments, ({ payer }) => payer)
  return (id: string, own: readonly Settlement[], moves: Moves): Sales | undefined => {
    const added = new Map<string, Set<string>>()
    for (const { payer, payee } of moves.payments ?? [])
      added.set(payer, (added.get(payer) ?? new Set()).add(payee))
    const wallet = payoutOf(id)
    return toSales(own, {
      asOf: AS_OF,
      isMetered: true,
      wallets: [wallet],
      transfers: indexTransfers(moves.transfers ?? []),
      hasPaidOthers: (payer) =>
        [...(added.get(payer) ?? []), ...(paidTo.get(payer) ?? []).map(({ payee }) => payee)].some(
          (payee) => payee !== wallet,
        ),
    })
  }
}
