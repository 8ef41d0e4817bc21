import type { CostOfCheating } from '../../../src/domain/independence/cost-of-cheating.ts'
import { VOUCHING } from '../../../src/domain/independence/weigh-buyer.ts'
import { scoreTrust, TRUST } from '../../../src/domain/trust/trust.ts'
import { REWARD_USD } from './attacks.ts'
import { BAIT_USD, planBait, type Target } from './bait.ts'
import { MARKETS } from './honest-loss.ts'
import { AS_OF, createMarket, DAY_MS, type Market, type MarketShape, type Paid } from './market.ts'
import { type Bought, SPREADING_RULES, type SpreadingRule, usdOf } from './spreading-rules.ts'

const FULL_USD = VOUCHING.microsAListing / 1_000_000
const HUNDRED = 100
const VICTIMS = [4, 10, 25] as const
const CHEAP_USD = [0.001, 0.01, 0.03]
const LOSS = 1 / 3

/** The same measurements of every way of spreading, for whoever wants to change the rule. */
export function compareSpreading(
  shape: MarketShape,
  seeds: readonly number[],
): CostOfCheating['spreading'] {
  const attacked = seeds.map((seed) => toTargets(createMarket(shape, seed)))
  const markets = [MARKETS.rich, MARKETS.middle, MARKETS.poor].map((market) =>
    toTargets(createMarket(market, seeds[0] ?? 1)),
  )
  return SPREADING_RULES.map((rule) => {
    const { id, name, weigh } = rule
    const [rich = 0, middle = 0, poor = 0] = markets.map((targets) => shareKept(weigh, targets))
    const victims = VICTIMS.map((wanted) =>
      attacked.map((targets) => harm(weigh, targets, findVictim(weigh, targets, wanted))),
    )
    const [four = null, ten = null, many = null] = victims.map((found) =>
      found.reduce<number | null>((least, { bait_usd: cost }) => {
        if (cost === null || least === null) return cost ?? least
        return Math.min(cost, least)
      }, null),
    )
    console.error(`compared: ${name}`)
    return {
      id,
      name,
      buyers_kept: [rich, middle, poor],
      hundredth: roundTo(toLadder(weigh)),
      cheap_shops: roundTo(Math.max(...victims.flat().map(({ cheap }) => cheap))),
      bait_usd: [four, ten, many],
      twenty_tools: roundTo(toTwentyTools(weigh)),
    }
  })
}

export function toTargets({ payments, seeds }: Market): Target[] {
  return [...Map.groupBy(payments, ({ payer }) => payer)].map(([payer, paid]) => {
    const isSeed = ({ shop }: Paid) => seeds.includes(shop)
    const shops = Map.groupBy(
      paid.filter((one) => !isSeed(one)),
      ({ shop }) => shop,
    )
    const given = paid.filter(isSeed).reduce((sum, { usd }) => sum + usd, 0)
    return { payer, given, bought: [...shops].map(([id, own]) => toBought(id, own)) }
  })
}

function toBought(id: string, paid: readonly Paid[]): Bought {
  const days = new Map<number, number>()
  for (const { at, usd } of paid) {
    const day = Math.floor((AS_OF - at) / DAY_MS)
    days.set(day, (days.get(day) ?? 0) + usd)
  }
  return { id, days }
}

/** Of buyers who paid a known seller. */
function shareKept(weigh: SpreadingRule['weigh'], targets: readonly Target[]): number {
  const known = targets.filter(({ given }) => given > 0)
  const weights = known.flatMap(({ given, bought }) => [...weigh(given, bought).values()])
  return roundTo(weights.reduce((sum, weight) => sum + weight, 0) / weights.length)
}

/** A hundred listings of one hand that are paid ever less: how many count for the price of one. */
function toLadder(weigh: SpreadingRule['weigh']): number {
  const ratios = [1, 0.98, 0.95, 0.9, 0.8, 0.6]
  const found = ratios.map((ratio) => {
    const bought = Array.from({ length: HUNDRED }, (_, n) => ({
      id: `listing-${n}`,
      days: new Map([[0, 10 * ratio ** n]]),
    }))
    return sumOf(weigh(5, bought)) / (5 / FULL_USD)
  })
  return Math.max(...found)
}

/** For a dollar paid to known sellers. */
function toTwentyTools(weigh: SpreadingRule['weigh']): number {
  const tools = Array.from({ length: 20 }, (_, n) => ({
    id: `tool-${n}`,
    days: new Map([
      [0, 0.02],
      [3, 0.02],
    ]),
  }))
  const weights = weigh(1, [...tools, { id: 'dear', days: new Map([[0, 1]]) }])
  weights.delete('dear')
  return sumOf(weights)
}

function findVictim(weigh: SpreadingRule['weigh'], targets: readonly Target[], wanted: number) {
  const buyers = new Map<string, number>()
  for (const { given, bought } of targets)
    for (const [id, weight] of weigh(given, bought)) buyers.set(id, (buyers.get(id) ?? 0) + weight)
  const distance = ([, count]: [string, number]) => Math.abs(count - wanted)
  return [...buyers].sort((a, b) => distance(a) - distance(b))[0]?.[0] ?? ''
}

/** What cheap shops take from a score, and what a third of it costs in rewards. */
function harm(weigh: SpreadingRule['weigh'], targets: readonly Target[], victim: string) {
  const buyers = targets.filter(
    ({ given, bought }) => given > 0 && bought.some(({ id }) => id === victim),
  )
  const before = scoreOf(weigh, buyers, victim)
  const falls = CHEAP_USD.map((usd) => {
    const cheap = Array.from({ length: HUNDRED }, (_, n) => ({
      id: `cheap-${n}`,
      days: new Map([[0, usd]]),
    }))
    const after = buyers.map((one) => ({ ...one, bought: [...one.bought, ...cheap] }))
    return 1 - scoreOf(weigh, after, victim) / before
  })
  return { cheap: Math.max(0, ...falls), bait_usd: costOfBait(weigh, buyers, { victim, before }) }
}

function costOfBait(
  weigh: SpreadingRule['weigh'],
  buyers: readonly Target[],
  { victim, before }: { victim: string; before: number },
): number | null {
  const after = new Map(buyers.map((one) => [one.payer, one]))
  let rewards = 0
  for (const { payer, shop, days } of planBait(victim, buyers, weigh)) {
    rewards += days
    const one = after.get(payer)
    if (one === undefined) continue
    const dates = new Map(Array.from({ length: days }, (_, day) => [day, BAIT_USD]))
    after.set(payer, { ...one, bought: [...one.bought, { id: shop, days: dates }] })
    if (scoreOf(weigh, [...after.values()], victim) <= before * (1 - LOSS))
      return Math.round(rewards * REWARD_USD * 100) / 100
  }
  return null
}

function scoreOf(weigh: SpreadingRule['weigh'], buyers: readonly Target[], victim: string): number {
  const counted = buyers.map(({ given, bought }) => {
    const own = bought.find(({ id }) => id === victim)
    const usd = own === undefined ? 0 : Math.min(usdOf(own), TRUST.perPayer.volumeUsd)
    return { weight: weigh(given, bought).get(victim) ?? 0, usd, days: own?.days.size ?? 0 }
  })
  const volumes = counted.map(({ weight, usd }) => weight * usd)
  const volumeUsd = volumes.reduce((sum, usd) => sum + usd, 0)
  const buyersCounted = counted.reduce((sum, { weight }) => sum + weight, 0)
  return scoreTrust({
    buyers: buyersCounted,
    settlements: counted.reduce((sum, { weight, days }) => sum + weight * days, 0),
    volumeUsd,
    topBuyerShare: volumeUsd === 0 ? 0 : Math.min(0.5, Math.max(...volumes) / volumeUsd),
    daysSinceLast: 1,
    sharers: 1,
  })
}

function sumOf(weights: ReadonlyMap<string, number>): number {
  return [...weights.values()].reduce((sum, weight) => sum + weight, 0)
}

function roundTo(value: number): number {
  return Math.round(value * 1000) / 1000
}
