import type { CostOfCheating } from '../../../src/domain/independence/cost-of-cheating.ts'
import { createJudge, createMarket, type Market, type MarketShape, type Paid } from './market.ts'

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

/**
 * Of people who buy from two shops or more: how many paid a known seller, which is the most that a rule
 * can tell by one buyer's own payments, and how many of those count.
 */
function lossIn(market: Market) {
  const payers = [...Map.groupBy(market.payments, ({ payer }) => payer).values()]
  const wide = payers.filter((paid) => new Set(paid.map(({ shop }) => shop)).size >= 2)
  const known = wide.filter((paid) => paid.some(({ shop }) => market.seeds.includes(shop)))
  const countAll = (paid: readonly Paid[][]) => countBuyers({ ...market, payments: paid.flat() })
  const [before, after] = [createJudge(market, false)({}), createJudge(market)({})]
  const [middle = ''] = market.shops
    .toSorted((a, b) => before.scoreOf(a) - before.scoreOf(b))
    .slice(Math.floor(market.shops.length / 2))
  const share = (part: number, all: number) => Math.round((1000 * part) / all) / 1000
  const kept = countAll(known)
  return {
    known: share(kept.all, countAll(wide).all),
    buyers_kept: share(kept.counted, kept.all),
    score_before: before.scoreOf(middle),
    score: after.scoreOf(middle),
  }
}

function countBuyers(market: Market): { all: number; counted: number } {
  const sum = (buyersOf: (shop: string) => number) =>
    market.shops.reduce((total, shop) => total + buyersOf(shop), 0)
  return {
    all: sum(createJudge(market, false)({}).buyersOf),
    counted: sum(createJudge(market)({}).buyersOf),
  }
}
