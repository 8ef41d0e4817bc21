import { type CostOfCheating, type Goals, TARGETS } from '../independence/cost-of-cheating.ts'
import { ATTACKS, type Attack, HELPED_ATTACKS, type HelpedAttack } from './attacks.ts'
import { findCheapest } from './find-cheapest.ts'
import { buyerOf, createHonestMarket, type HonestMarket, toSettlement } from './honest-market.ts'
import { shopsOf, TARGET } from './moves.ts'
import { type Played, playHonest } from './play-attack.ts'

/** A fixed end of the window: nothing that is judged depends on the day it is judged. */
export const AS_OF = Date.UTC(2026, 0, 31)

const HONEST = { buyers: 10, payments: 60, usd: 0.02 } as const
const DAY_MS = 86_400_000

export interface SimulationOptions {
  /** Such as 2026-11-22: stands on the table, and decides nothing. */
  date: string
  seed: number
  means: CostOfCheating['means']
  /** Told when an attack has been searched. */
  onAttack?: (name: string) => void
}

/** Every attack against every target by both methods. The same options give the same table. */
export function simulateCheating({
  date,
  seed,
  means,
  onAttack,
}: SimulationOptions): CostOfCheating {
  const market = createHonestMarket(seed, AS_OF)
  const search = (attack: Attack, method: keyof Played): Goals => {
    const [low, middle, high] = TARGETS.map((target) =>
      findCheapest(attack, { method, score: Number(target) }, { means, market, asOf: AS_OF, seed }),
    )
    return { 30: low ?? null, 60: middle ?? null, 90: high ?? null }
  }
  const attacks = ATTACKS.map((attack) => {
    const row = {
      id: attack.id,
      name: attack.name,
      v01: search(attack, 'v01'),
      v02: search(attack, 'v02'),
    }
    onAttack?.(attack.name)
    return row
  })
  return {
    date,
    seed,
    means,
    attacks,
    helped: HELPED_ATTACKS.map((attack) => {
      const { id, name } = attack
      const row = { id, name, needs: toNeeds(attack, market), v02: search(attack, 'v02') }
      onAttack?.(name)
      return row
    }),
    honest: { buyers: HONEST.buyers, payments: HONEST.payments, ...playSmallSeller(market) },
  }
}

/** A small seller whose buyers are people of the market, each with what it buys elsewhere. */
export function playSmallSeller(market: HonestMarket): Played {
  const { buyers, payments, usd } = HONEST
  const sales = Array.from({ length: payments }, (_, n) =>
    toSettlement({
      payer: buyerOf(n % buyers),
      shop: TARGET,
      usd,
      at: AS_OF - (n * 30 * DAY_MS) / payments,
      transaction: `sale-${n}`,
    }),
  )
  return playHonest(sales, { market, asOf: AS_OF })
}

/** With what strangers pay the one shop that it turns on: more cannot pass through it. */
function toNeeds(attack: HelpedAttack, market: HonestMarket): string {
  const [shop, another] = shopsOf(attack, market) ?? []
  if (shop === undefined || another !== undefined) return attack.needs
  const sales = market.payments.get(shop) ?? []
  const usd = sales.reduce((sum, sale) => sum + sale.usd, 0)
  return `${attack.needs}; here strangers pay it $${usd.toFixed(2)} in the month`
}
