import { VOUCHING, weighBuyer } from '../../../src/domain/independence/weigh-buyer.ts'

/** What a buyer bought from one listing: dollars by day, counted from the last. */
export interface Bought {
  id: string
  days: ReadonlyMap<number, number>
}

/** How much a buyer counts at each listing, 0 to 1, that paid known sellers so many dollars. */
export interface SpreadingRule {
  id: string
  name: string
  weigh: (given: number, bought: readonly Bought[]) => Map<string, number>
}

const FULL_USD = VOUCHING.microsAListing / 1_000_000

/** The rule first, then those it was compared with. */
export const SPREADING_RULES: readonly SpreadingRule[] = [
  {
    id: 'custom',
    name: 'By the square of custom, up to 20 cents a day; the rule',
    weigh: weighByRule,
  },
  { id: 'seller', name: 'By seller: each the same', weigh: filled(() => 1) },
  { id: 'dollar', name: 'By dollar', weigh: filled(usdOf) },
  {
    id: 'capped',
    name: 'By dollar, up to 26 cents a seller',
    weigh: filled((one) => Math.min(FULL_USD, usdOf(one))),
  },
  {
    id: 'days',
    name: 'By custom, up to 20 cents a day, without the square',
    weigh: filled(({ days }) =>
      Math.min(
        0.6,
        [...days.values()].reduce((sum, usd) => sum + Math.min(usd, 0.2), 0),
      ),
    ),
  },
  {
    id: 'comparable',
    name: 'By comparable price: a cheaper seller takes as much less',
    weigh: (given, bought) =>
      new Map(
        bought.map((one) => {
          const rivals = bought.reduce(
            (sum, other) => sum + Math.min(1, usdOf(other) / usdOf(one)),
            0,
          )
          return [one.id, Math.min(1, given / FULL_USD / rivals)]
        }),
      ),
  },
]

export function usdOf({ days }: Bought): number {
  return [...days.values()].reduce((sum, usd) => sum + usd, 0)
}

/** The product's own. */
export function weighByRule(given: number, bought: readonly Bought[]): Map<string, number> {
  const toPurchase = (owner: string, day: number, usd: number) => ({
    owner,
    day,
    micros: Math.round(usd * 1_000_000),
    listings: [owner],
  })
  const purchases = bought.flatMap(({ id, days }) =>
    [...days].map(([day, usd]) => toPurchase(id, day, usd)),
  )
  const weights = weighBuyer([...purchases, toPurchase('seed', 0, given)], new Set(['seed']))
  return new Map(bought.map(({ id }) => [id, (weights.get(id) ?? 0) / 1_000_000]))
}

/** In proportion to a claim, no more than in full; what is over goes to the others. */
function filled(claimOf: (one: Bought) => number): SpreadingRule['weigh'] {
  return (given, bought) => {
    const claims = bought.map((one) => ({ id: one.id, claim: claimOf(one) }))
    let left = given
    let all = claims.reduce((sum, { claim }) => sum + claim, 0)
    const weights = new Map<string, number>()
    for (const { id, claim } of claims.toSorted((a, b) => b.claim - a.claim)) {
      const share = all === 0 ? 0 : (left * claim) / all
      weights.set(id, Math.min(1, share / FULL_USD))
      if (share < FULL_USD) continue
      left -= FULL_USD
      all -= claim
    }
    return weights
  }
}
