import type { Settlement } from '../settlement/settlement.ts'
import { createRandom } from './random.ts'

/**
 * The market a cheat moves in: known shops, small ones, and people who buy from some of them. Invented,
 * the same for the same seed, and small: what matters is that honest buyers buy in several places.
 */
export interface HonestMarket {
  knownShops: readonly string[]
  smallShops: readonly string[]
  /** Counted payments by shop. */
  payments: ReadonlyMap<string, readonly Settlement[]>
}

export const MARKET = {
  knownShops: 3,
  smallShops: 12,
  buyers: 150,
  shopsABuyer: 4,
  mostUsd: 6,
} as const

const DAY_MS = 86_400_000

export function createHonestMarket(seed: number, asOf: number): HonestMarket {
  const random = createRandom(seed)
  const below = (limit: number) => Math.floor(random() * limit)
  const knownShops = Array.from({ length: MARKET.knownShops }, (_, n) => `known-shop-${n}`)
  const smallShops = Array.from({ length: MARKET.smallShops }, (_, n) => `small-shop-${n}`)
  const shops = [...knownShops, ...smallShops]
  const payments: Settlement[] = []
  for (let buyer = 0; buyer < MARKET.buyers; buyer++) {
    for (let n = 1 + below(MARKET.shopsABuyer); n > 0; n--) {
      const shop = shops[below(shops.length)] ?? ''
      payments.push(
        toSettlement({
          payer: buyerOf(buyer),
          shop,
          usd: Math.ceil(random() * MARKET.mostUsd * 100) / 100,
          at: asOf - below(30 * DAY_MS),
          transaction: `honest-${payments.length}`,
        }),
      )
    }
  }
  return { knownShops, smallShops, payments: Map.groupBy(payments, ({ listing_id }) => listing_id) }
}

/** Wallet of an honest buyer. */
export function buyerOf(index: number): string {
  return `honest-buyer-${index}`
}

/** Where a shop takes its money. */
export function payoutOf(shop: string): string {
  return `payout-of-${shop}`
}

const NETWORK = 'eip155:8453'

export function toSettlement(facts: {
  payer: string
  shop: string
  usd: number
  at: number
  transaction: string
}): Settlement {
  return {
    network: NETWORK,
    transaction: facts.transaction,
    log_index: 0,
    listing_id: facts.shop,
    payer: facts.payer,
    payee: payoutOf(facts.shop),
    usd: facts.usd,
    amount: String(Math.round(facts.usd * 1_000_000)),
    at: Math.round(facts.at),
    block: null,
  }
}
