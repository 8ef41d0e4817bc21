import { describe, expect, test } from 'vitest'
import { readTables } from '../../src/compile/content/read-tables.ts'
import { ATTACKS, type Attack, HELPED_ATTACKS } from '../../src/domain/adversary/attacks.ts'
import { findCheapest } from '../../src/domain/adversary/find-cheapest.ts'
import { createHonestMarket } from '../../src/domain/adversary/honest-market.ts'
import { costOf, playAttack } from '../../src/domain/adversary/play-attack.ts'
import { AS_OF, playSmallSeller } from '../../src/domain/adversary/simulate.ts'
import { cheapestOf, TARGETS } from '../../src/domain/independence/cost-of-cheating.ts'

const table = readTables('content').partial.costOfCheating
if (table === undefined) throw new Error('content/tables/cost_of_cheating.yaml cannot be read')
const market = createHonestMarket(table.seed, AS_OF)
const KNOWN = [...ATTACKS, ...HELPED_ATTACKS]
const rows = [...table.attacks, ...table.helped].flatMap((row) => {
  const attack = KNOWN.find(({ id }) => id === row.id)
  return TARGETS.flatMap((target) =>
    (['v01', 'v02'] as const).flatMap((method) => {
      const found = method === 'v02' ? row.v02[target] : 'v01' in row ? row.v01[target] : null
      return attack === undefined || found === null ? [] : [{ attack, method, target, found }]
    }),
  )
})
const play = (attack: Attack, plan: Parameters<typeof playAttack>[1]) =>
  playAttack(attack, plan, { market, asOf: AS_OF })

describe('the published table of what cheating costs', () => {
  test('is of the attacks there are', () => {
    expect(table.attacks.map(({ id }) => id)).toEqual(ATTACKS.map(({ id }) => id))
    expect(table.helped.map(({ id }) => id)).toEqual(HELPED_ATTACKS.map(({ id }) => id))
  })

  test('holds plans that reach what they say for what they say, by the method of today', () => {
    expect(rows.length).toBeGreaterThan(20)
    for (const { attack, method, target, found } of rows) {
      expect([attack.id, method, play(attack, found)[method]]).toEqual([
        attack.id,
        method,
        found.score,
      ])
      expect(found.score).toBeGreaterThanOrEqual(Number(target))
      expect(found.cost_usd).toBeCloseTo(costOf(attack, found), 5)
    }
  })

  test('v0.1 costs cents; 60 by v0.2 costs at least $50, and real buyers are enough', () => {
    expect(cheapestOf(table, 'v01', '60')?.cost_usd).toBeLessThan(0.05)
    expect(cheapestOf(table, 'v02', '60')?.cost_usd).toBeGreaterThanOrEqual(50)
    expect(playSmallSeller(market)).toEqual({ v01: table.honest.v01, v02: table.honest.v02 })
    expect(table.honest.v02).toBeGreaterThan(0)
  })
})

describe('the search', () => {
  const means = { budget_usd: 400, wallets: 40, payments: 200 }
  const attackOf = (id: string) => {
    const attack = KNOWN.find((known) => known.id === id)
    if (attack === undefined) throw new Error(`there is no attack ${id}`)
    return attack
  }
  const search = (id: string, method: 'v01' | 'v02', score: number) =>
    findCheapest(attackOf(id), { method, score }, { means, market, asOf: AS_OF, seed: 7 })

  test('finds the same for the same seed, within the means', () => {
    const found = search('known_shops', 'v02', 30)
    expect(found).toEqual(search('known_shops', 'v02', 30))
    expect(found?.wallets).toBeLessThanOrEqual(means.wallets)
    expect(found?.cost_usd).toBeLessThan(means.budget_usd / 2)
  })

  test.each([
    ['in_minutes', 'a burst'],
    ['from_payout', 'money of the payout'],
    ['one_hop', 'money of the payout through a wallet'],
    ['round_trip', 'money sent back'],
    ['borrowed_payout', 'a payout that is another’s'],
  ])('%s gets nowhere: %s is left out', (id) => {
    expect(search(id, 'v01', 30)).toBeNull()
  })

  test('gift cards are as good as money, where people filed their seller so', () => {
    expect(search('gift_cards', 'v02', 30)).toBeNull()
    expect(search('misfiled_gift_cards', 'v02', 30)).not.toBeNull()
  })

  test('a burst of uneven amounts is none to v0.1, and nothing to v0.2', () => {
    const plan = { wallets: 30, payments: 30, volume_usd: 6, elsewhere_usd: 0 }
    expect(play(attackOf('in_minutes'), plan)).toEqual({ v01: 0, v02: 0 })
    expect(play(attackOf('in_minutes_uneven'), plan)).toMatchObject({ v02: 0 })
    expect(play(attackOf('in_minutes_uneven'), plan).v01).toBeGreaterThan(30)
  })

  test('a payment reported ten times is one', () => {
    const plan = { wallets: 12, payments: 60, volume_usd: 6, elsewhere_usd: 0 }
    expect(play(attackOf('replay'), plan)).toEqual(play(attackOf('own_wallets'), plan))
  })

  test.each(['own_wallets', 'ring', 'own_shop', 'slow'])(
    '%s is nothing to v0.2 with all the means there are',
    (id) => {
      const plan = { wallets: 40, payments: 200, volume_usd: 200, elsewhere_usd: 10 }
      expect(play(attackOf(id), plan).v02).toBe(0)
    },
  )
})
