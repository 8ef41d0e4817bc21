import type { Bought, SpreadingRule } from './spreading-rules.ts'

/** A buyer of the victim's: what it paid known sellers, and what it bought from others. */
export interface Target {
  payer: string
  given: number
  bought: readonly Bought[]
}

/** A shop of the rival's from which one buyer is paid to buy on so many days. */
export interface Bait {
  payer: string
  shop: string
  days: number
}

/** Above all that counts of one day; it is given back, so its price does not matter. */
export const BAIT_USD = 2
/** Purchases that are added together: one alone may change nothing. */
const SHOPS = [1, 2, 3, 5, 8]
const DAYS = [3, 5, 8]
const MOST = 250

/**
 * Baits in the order that takes most from the victim for each reward, as a rival finds them who knows the
 * rule and all of these buyers' payments.
 */
export function planBait(
  victim: string,
  targets: readonly Target[],
  weigh: SpreadingRule['weigh'],
): Bait[] {
  const states = targets.map(({ payer, given, bought }) => ({
    payer,
    given,
    bought,
    weight: weigh(given, bought).get(victim) ?? 0,
  }))
  const baits: Bait[] = []
  while (baits.reduce((sum, { days }) => sum + days, 0) < MOST) {
    const moves = states.flatMap((state) =>
      toOptions(state.payer, baits.length).map((added) => {
        const bought = [...state.bought, ...added.map(toBought)]
        const weight = weigh(state.given, bought).get(victim) ?? 0
        const rewards = added.reduce((sum, { days }) => sum + days, 0)
        return { state, added, bought, weight, gain: (state.weight - weight) / rewards }
      }),
    )
    const best = moves.reduce<(typeof moves)[number] | null>(
      (found, move) => (found === null || move.gain > found.gain ? move : found),
      null,
    )
    if (best === null || best.gain <= 0) break
    best.state.bought = best.bought
    best.state.weight = best.weight
    baits.push(...best.added)
  }
  return baits
}

function toOptions(payer: string, made: number): Bait[][] {
  const shops = (count: number, days: number) =>
    Array.from({ length: count }, (_, n) => ({ payer, shop: `rival-shop-${made + n}`, days }))
  return [...SHOPS.map((count) => shops(count, 1)), ...DAYS.map((days) => shops(1, days))]
}

function toBought({ shop, days }: Bait): Bought {
  return {
    id: shop,
    days: new Map(Array.from({ length: days }, (_, day) => [day, BAIT_USD])),
  }
}
