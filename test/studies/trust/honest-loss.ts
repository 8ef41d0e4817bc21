import type { CostOfCheating } from '../../../src/domain/independence/cost-of-cheating.ts'
import { createJudge, createMarket, type Market, type MarketShape } from './market.ts'

/**
 * Three markets, from many uses of sellers on the list to few. What people spend and where is a guess:
 * nobody has published it.
 */
export const MARKETS: Record<'rich' | 'middle' | 'poor', MarketShape & { about: string }> = {
  rich: {
    about: 'buyers use 2 to 6 sellers for about $1.50 each a month; half of those are on the list',
    buyers: 600,
    shops: 40,
    uses: [2, 6],
    medianUsd: 1.5,
    seedShare: 0.5,
  },
  middle: {
    about:
      'buyers use 2 to 4 sellers for about $0.60 each a month; a quarter of those are on the list',
    buyers: 600,
    shops: 40,
    uses: [2, 4],
    medianUsd: 0.6,
    seedShare: 0.25,
  },
  poor: {
    about:
      'buyers use 1 to 3 sellers for about $0.15 each a month; a tenth of those are on the list',
    buyers: 600,
    shops: 40,
    uses: [1, 3],
    medianUsd: 0.15,
    seedShare: 0.1,
  },
}

/** What the rule takes from honest sellers that are not on the list. */
export function measureLoss(seed: number): CostOfCheating['honest'] {
  return (['rich', 'middle', 'poor'] as const).map((market) => {
    const { about, ...shape } = MARKETS[market]
    return { market, about, ...lossIn(createMarket(shape, seed)) }
  })
}

function lossIn(market: Market) {
  const shopsOf = Map.groupBy(market.payments, ({ payer }) => payer)
  const isWidely = (payer: string) =>
    new Set(shopsOf.get(payer)?.map(({ listing_id }) => listing_id)).size >= 2
  const wide = { ...market, payments: market.payments.filter(({ payer }) => isWidely(payer)) }
  const [all, kept] = [createJudge(wide, false)({}), createJudge(wide)({})]
  const sum = (buyersOf: (shop: string) => number) =>
    market.shops.reduce((total, shop) => total + buyersOf(shop), 0)
  const [before, after] = [createJudge(market, false)({}), createJudge(market)({})]
  const middle = market.shops.toSorted((a, b) => before.scoreOf(a) - before.scoreOf(b))[
    Math.floor(market.shops.length / 2)
  ]
  return {
    buyers_kept: Math.round((1000 * sum(kept.buyersOf)) / sum(all.buyersOf)) / 1000,
    score_before: before.scoreOf(middle ?? ''),
    score: after.scoreOf(middle ?? ''),
  }
}
