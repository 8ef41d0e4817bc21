import { describe, expect, test } from 'vitest'
import { readTables } from '../../../src/content/tables.ts'
import { cheapestOf, TARGETS } from '../../../src/domain/independence/cost-of-cheating.ts'
import { VOUCHING } from '../../../src/domain/independence/weigh-buyer.ts'
import { scoreTrust, TRUST } from '../../../src/domain/trust/trust.ts'
import { ATTACKS, type Attack, PLAINEST, type Plan } from './attacks.ts'
import { GRIEFINGS } from './griefing.ts'
import { createJudge, createMarket } from './market.ts'
import { playChains } from './play-chains.ts'
import { costOf, playCheating } from './play-cheating.ts'
import { playMachine } from './play-machine.ts'
import { STUDIED } from './simulate-trust.ts'
import { SPREADING_RULES } from './spreading-rules.ts'

const table = readTables('content').partial.costOfCheating
if (table === undefined) throw new Error('content/tables/cost_of_cheating.yaml cannot be read')
const worlds = new Map(
  table.seeds.map((seed) => {
    const market = createMarket(STUDIED, seed)
    return [seed, { market, judge: createJudge(market) }]
  }),
)
const play = (attack: Attack, plan: Plan & { seed?: number }) => {
  const { market, judge } = worlds.get(plan.seed ?? 1) ?? {}
  if (market === undefined || judge === undefined) throw new Error('there is no such market')
  return playCheating(attack, plan, market, judge)
}
const attackOf = (id: string) => {
  const attack = ATTACKS.find((known) => known.id === id)
  if (attack === undefined) throw new Error(`there is no attack ${id}`)
  return attack
}

describe('the published table of what cheating costs', () => {
  test('is of the attacks there are', () => {
    expect(table.cheating.map(({ id }) => id)).toEqual(ATTACKS.map(({ id }) => id))
    expect(table.griefing.map(({ id }) => id)).toEqual(GRIEFINGS.map(({ id }) => id))
  })

  test('holds plans that reach what they say for what they say, by the method of today', () => {
    const rows = table.cheating.flatMap(({ id, goals }) =>
      TARGETS.flatMap((target) => {
        const found = goals[target]
        // A hundred listings take a hundred times as long.
        return found === null || attackOf(id).listings > 1 ? [] : [{ id, target, found }]
      }),
    )
    expect(rows.length).toBeGreaterThan(8)
    for (const { id, target, found } of rows) {
      expect([id, play(attackOf(id), found)]).toEqual([id, found.score])
      expect(found.score).toBeGreaterThanOrEqual(Number(target))
      expect(found.cost_usd).toBeCloseTo(costOf(attackOf(id), found), 5)
    }
  })

  test('holds what the meter makes of each chain: real payments count, and no forged one', async () => {
    expect(await playChains()).toEqual(table.forged)
    for (const { id, payments, counted } of table.forged)
      expect([id, counted]).toEqual([id, id.startsWith('real') ? payments : 0])
  })

  test('holds what relay, meter and build make of each play, and what does not hold is named', async () => {
    expect(await playMachine()).toEqual(table.machine)
    // The page names each of these among what gets past the rule.
    const past = table.machine.filter(({ held }) => !held).map(({ id }) => id)
    expect(past).toEqual(['flood_payee', 'contested', 'crowd_of_pool'])
  })

  test('30, 60 and 90 cost what the rule promises, and under a cent where nobody is measured', () => {
    const least = { 30: 1.5, 60: 5, 90: 18 }
    for (const target of TARGETS)
      expect(cheapestOf(table, target)?.cost_usd).toBeGreaterThanOrEqual(least[target])
    const found = table.unmeasured[30]
    expect(found?.cost_usd).toBeLessThan(0.01)
    const { market } = worlds.get(found?.seed ?? 1) ?? {}
    if (found !== null && market !== undefined)
      expect(playCheating(PLAINEST, found, market, createJudge(market, false))).toBe(found.score)
  })

  test('no plan can be cheaper than the money that vouches for the parts it needs', () => {
    const { perPayer } = TRUST
    // At best each part has all the payments and dollars that count, and no buyer is larger than another.
    const best = (parts: number) =>
      scoreTrust({
        buyers: parts,
        settlements: parts * perPayer.settlements,
        volumeUsd: parts * perPayer.volumeUsd,
        topBuyerShare: Math.min(1, 1 / parts),
        daysSinceLast: 0,
        sharers: 1,
      })
    const least = { 30: 1.5, 60: 5, 90: 18 }
    for (const target of TARGETS) {
      const parts = (least[target] * 1_000_000) / VOUCHING.microsAListing
      expect(best(parts)).toBeLessThan(Number(target))
    }
  })

  test('harming an honest seller costs at least $5, but for rewards to its buyers where they are few or spend little', () => {
    const costs = table.griefing.flatMap(({ id, cost_usd }) =>
      cost_usd.map((cost, n) => ({ id, victim: n, cost: cost ?? Number.POSITIVE_INFINITY })),
    )
    const cheap = costs.filter(({ cost }) => cost < 5)
    // The page says so: a rival that rewards real buyers for going elsewhere has few to reward there, and
    // where buyers spend a few cents with a seller, one reward weighs more than all of that.
    const isSaid = ({ id, victim }: { id: string; victim: number }) =>
      id.endsWith('_small') || (id === 'bait' && victim < 2)
    expect(cheap.filter((row) => !isSaid(row))).toEqual([])
    for (const { knows, cost_usd } of table.griefing)
      if (!knows) for (const cost of cost_usd) expect(cost ?? 5).toBeGreaterThanOrEqual(5)
  })

  test('honest sellers keep the buyers that can be known', () => {
    const keptIn = (name: string) => table.honest.find(({ market }) => market === name)?.buyers_kept
    expect(keptIn('rich')).toBeGreaterThan(0.9)
    expect(keptIn('middle')).toBeGreaterThan(0.7)
  })

  test('compares the rule with five others, none of which is as good against cheap shops and hundreds', () => {
    const [rule, ...others] = table.spreading
    expect(table.spreading.map(({ id }) => id)).toEqual(SPREADING_RULES.map(({ id }) => id))
    expect(rule?.hundredth).toBeLessThanOrEqual(1)
    expect(rule?.cheap_shops).toBeLessThan(1 / 3)
    for (const { cheap_shops, hundredth } of others)
      expect(cheap_shops > 1 / 3 || hundredth > 1).toBe(true)
  })
})

describe('an attack', () => {
  const plan = { wallets: 40, payments: 200, volume_usd: 200, elsewhere_usd: 10 }

  test.each([
    'own_wallets',
    'in_minutes',
    'from_payout',
    'one_hop',
    'round_trip',
    'published_payout',
    'claimed_calls',
    'ring',
    'own_shop',
    'small_shops',
  ])('%s is nothing with all the means there are', (id) => {
    expect(play(attackOf(id), plan)).toBe(0)
  })

  test('of a hundred listings that share wallets pays for each of them', () => {
    const shared = { wallets: 6, payments: 60, volume_usd: 60, elsewhere_usd: 0.3 }
    expect(play(attackOf('hundred_known'), shared)).toBe(0)
    expect(play(attackOf('known_sellers'), shared)).toBeGreaterThan(20)
  })
})
