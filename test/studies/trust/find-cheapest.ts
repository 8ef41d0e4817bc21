import type { CostOfCheating, Found } from '../../../src/domain/independence/cost-of-cheating.ts'
import { VOUCHING } from '../../../src/domain/independence/weigh-buyer.ts'
import { TRUST } from '../../../src/domain/trust/trust.ts'
import type { Attack, Plan } from './attacks.ts'
import { costOf, tiedUsd } from './play-cheating.ts'
import { createRandom } from './random.ts'

type Means = CostOfCheating['means']

const TRIES = 90
/** A hundred listings take a hundred times as long: they start from what was found for one. */
const FEW_TRIES = 2
/** Steps shrink over so many tries, then start large again: a valley may lie beyond a ridge. */
const ROUND = 90
const MOST_EXACT = 100
const LARGEST = 0.6
const SMALLEST = 0.01

/**
 * The cheapest way found to carry an attack to a goal: from the strongest plans the means allow,
 * downhill by changes of one or two numbers at a time. A search, so an upper bound: a cleverer
 * adversary may find a cheaper plan, never a dearer one.
 *
 * @returns null where no plan within the means reaches the goal
 */
export function findCheapest(
  attack: Attack,
  target: number,
  {
    means,
    play,
    seed,
    start = null,
  }: { means: Means; play: (plan: Plan) => number; seed: number; start?: Found | null },
): Found | null {
  const random = createRandom(seed)
  let best: Found | null = null
  const consider = (plan: Plan): boolean => {
    const cost_usd = costOf(attack, plan)
    if (!isWithin(attack, plan, means) || (best !== null && cost_usd >= best.cost_usd)) return false
    const score = play(plan)
    if (score < target) return false
    best = { seed, ...plan, cost_usd: roundUp(cost_usd), score }
    return true
  }
  const { listings } = attack
  const shared =
    start === null ? [] : [shareOut(start, listings, 1.02), shareOut(start, listings, 2)]
  const exact = toExactPlans(attack)
  // Where even the most of each kind falls short, fewer wallets need no look.
  const isHopeful =
    listings === 1 && exact.some((plan) => plan.wallets === MOST_EXACT && play(plan) >= target)
  const starts =
    listings === 1 ? [...(isHopeful ? exact : []), ...strongestPlans(attack, means)] : shared
  for (const plan of starts) if (consider(plan)) break
  const most = listings === 1 ? TRIES : FEW_TRIES
  for (let tries = 0; tries < most && best !== null; tries++) {
    const step = LARGEST * (SMALLEST / LARGEST) ** ((tries % ROUND) / ROUND)
    consider(change(best, step, random))
    if (listings > 1) continue
    if (tries % 3 === 0) consider(trade(attack, best, step, random))
    if (tries % 3 === 1) consider(shrink(best, step, random))
  }
  return best
}

/** The same for each of many listings: the wallets spend as many times as much elsewhere. */
function shareOut(
  { wallets, payments, volume_usd, elsewhere_usd }: Found,
  listings: number,
  more: number,
): Plan {
  return { wallets, payments, volume_usd, elsewhere_usd: elsewhere_usd * listings * more }
}

function isWithin(attack: Attack, plan: Plan, means: Means): boolean {
  const tied = tiedUsd(attack, plan)
  const spent = (plan.wallets * plan.elsewhere_usd) / attack.listings
  return (
    plan.wallets >= 1 &&
    plan.wallets <= means.wallets &&
    plan.payments >= plan.wallets &&
    plan.payments <= means.payments &&
    tied + spent <= means.budget_usd
  )
}

/**
 * As the rules are written: each wallet pays as much as counts, and gives away what makes it count in
 * full, or in part, so that many wallets share it. The cheapest come first.
 */
function toExactPlans(attack: Attack): Plan[] {
  const { settlements, volumeUsd } = TRUST.perPayer
  const shares = attack.elsewhere === 'nowhere' ? [0] : [1, 0.85, 0.5, 0.2, 0.1, 0.05]
  return Array.from({ length: MOST_EXACT }, (_, n) => n + 1)
    .flatMap((wallets) =>
      shares.map((share) => ({
        wallets,
        payments: settlements * wallets,
        volume_usd: volumeUsd * wallets,
        elsewhere_usd: (share * VOUCHING.microsAListing) / 1_000_000,
      })),
    )
    .sort((one, other) => costOf(attack, one) - costOf(attack, other))
}

function strongestPlans({ days, elsewhere, listings }: Attack, means: Means): Plan[] {
  const isSpending = elsewhere !== 'nowhere'
  const volumes = [means.budget_usd * Math.max(1, days) * (isSpending ? 0.1 : 0.9), 1000, 10]
  const shares = [0.1, 0.3, 1, 0.03]
  return shares.flatMap((share) =>
    volumes.map((volume_usd) => {
      const wallets = Math.max(1, Math.floor(means.wallets * share))
      const spent = isSpending ? (means.budget_usd * listings * 0.85) / wallets : 0
      const payments = Math.min(means.payments, wallets * 10)
      return { wallets, payments, volume_usd, elsewhere_usd: spent }
    }),
  )
}

/** One number less, and now and then another one more: by far, as some cost next to nothing. */
function change(plan: Plan, step: number, random: () => number): Plan {
  const keys = ['wallets', 'payments', 'volume_usd', 'elsewhere_usd'] as const
  const less = keys[Math.floor(random() * keys.length)] ?? 'wallets'
  const more = keys[Math.floor(random() * keys.length)] ?? 'volume_usd'
  const next = { ...plan, [less]: plan[less] * (1 - step * random()) }
  if (more !== less && random() < 0.7) next[more] *= 1 + 5 * step * random()
  return {
    wallets: Math.max(1, Math.round(next.wallets)),
    payments: Math.max(1, Math.round(next.payments)),
    volume_usd: roundTo(next.volume_usd),
    elsewhere_usd: roundTo(next.elsewhere_usd),
  }
}

/** Fewer wallets that pay less often by as much, and more that comes back: the two hold each other. */
function shrink(plan: Plan, step: number, random: () => number): Plan {
  const factor = 1 - step * random()
  const wallets = Math.max(1, Math.round(plan.wallets * factor))
  return {
    ...plan,
    wallets,
    payments: Math.max(wallets, Math.round(plan.payments * factor)),
    volume_usd: roundTo(plan.volume_usd * (1 + 5 * step * random())),
  }
}

/** Fewer or more of everything else, and as much spent elsewhere as is then still a little cheaper. */
function trade(attack: Attack, best: Found, step: number, random: () => number): Plan {
  const turn = () => (1 + 5 * step * random()) ** (random() < 0.5 ? -1 : 1)
  const plan = {
    wallets: Math.max(1, Math.round(best.wallets * turn())),
    payments: Math.max(1, Math.round(best.payments * turn())),
    volume_usd: roundTo(best.volume_usd * turn()),
    elsewhere_usd: 0,
  }
  const rest = best.cost_usd * 0.995 - costOf(attack, plan)
  const each = (rest * attack.listings) / plan.wallets - 0.001
  return { ...plan, elsewhere_usd: Math.max(0, roundTo(each)) }
}

/** Millionths, upwards: nothing is said to be cheaper than it is. */
function roundUp(usd: number): number {
  return Math.ceil(usd * 1e6 - 1e-6) / 1e6
}

function roundTo(usd: number): number {
  return Math.round(usd * 1000) / 1000
}
