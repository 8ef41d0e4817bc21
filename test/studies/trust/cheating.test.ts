import { afterAll, describe, expect, test } from 'vitest'
import { CHEATING, VOUCHING } from '../../../src/domain/trust/score-listings.ts'
import { scoreTrust, TRUST } from '../../../src/domain/trust/trust.ts'
import { IS_LONG, longTest } from '../../support/long.ts'
import { costOf, findCheapest, HUNDRED, invent, KNOWN, WORTHLESS } from './invent.ts'
import { openMachine, PLAYS, withoutPlay } from './machine.ts'
import { createJudge, createMarket, MARKETS } from './market.ts'
import { findHarm, findVictims, HARMS } from './rival.ts'

/**
 * What a score is worth, played against the code that judges real payments: the formula, a rival, the
 * relay and the meter. What it finds is an upper bound: a cleverer cheat may pay less. `/trust` prints its
 * price and its three sentences.
 */
const STUDIED = { ...MARKETS.middle, buyers: 150, shops: 15 }
const market = createMarket(STUDIED, 5)
const judge = createJudge(market)
/** Dollars that a score must cost at least, by score. */
const LEAST = { 30: 1.5, 60: CHEATING.usd, 90: 18 } as const
const TARGETS = [30, CHEATING.score, 90] as const

/** Each in `npm run test:long`, every so many in `npm test`. */
function someOf<Row>(rows: readonly Row[], step: number): Row[] {
  return rows.filter((_, place) => IS_LONG || place % step === 1)
}

/** Searched once, whoever looks at it. */
const cheapest = new Map<number, ReturnType<typeof findCheapest>>()
function findPlan(target: number) {
  const found = cheapest.get(target) ?? findCheapest(KNOWN, target, market, judge)
  cheapest.set(target, found)
  return found
}

describe('the formula: invented buyers', () => {
  test.each(someOf(Object.keys(WORTHLESS), 4))(
    '%s are worth nothing with all the means there are',
    (name) => {
      const plan = { wallets: 40, payments: 200, volume: 200, spent: 10 }
      expect(invent(WORTHLESS[name] ?? {}, plan, market, judge)).toBe(0)
    },
  )

  test.each(IS_LONG ? TARGETS : ([30] as const))(
    'that buy from known sellers reach %i for no less than is said',
    (target) => {
      const found = findPlan(target)
      expect(found?.cost).toBeGreaterThanOrEqual(LEAST[target])
      // The search is one that finds something: the price is no empty promise.
      expect(found?.cost).toBeLessThan(1.3 * LEAST[target])
    },
  )

  test('no plan is cheaper than the money that vouches for the parts it needs', () => {
    const { settlements, volumeUsd } = TRUST.perPayer
    for (const target of TARGETS) {
      const parts = (LEAST[target] * 1_000_000) / VOUCHING.microsAListing
      // At best each part has all the payments and dollars that count, and no buyer is larger than another.
      const best = scoreTrust({
        buyers: parts,
        settlements: parts * settlements,
        volumeUsd: parts * volumeUsd,
        topBuyerShare: Math.min(1, 1 / parts),
        daysSinceLast: 0,
        sharers: 1,
      })
      expect(best).toBeLessThan(target)
    }
  })

  longTest('the hundredth listing costs as much as the first, also with one payout for all', () => {
    const one = findPlan(30)
    if (one === null) throw new Error('nothing reaches 30')
    const shared = { ...one, spent: one.spent * 100 }
    expect(invent(HUNDRED, one, market, judge)).toBe(0)
    expect(costOf(HUNDRED, shared)).toBeGreaterThanOrEqual(LEAST[30])
    expect(invent(HUNDRED, { ...shared, spent: shared.spent * 0.9 }, market, judge)).toBeLessThan(
      30,
    )
    expect(invent({ ...HUNDRED, payout: 'shared' }, shared, market, judge)).toBeLessThan(30)
  })

  test('cost under a cent where fewer than three known sellers are measured', () => {
    const plan = { wallets: 20, payments: 200, volume: 20, spent: 0 }
    expect(costOf({}, plan)).toBeLessThan(0.01)
    expect(invent({}, plan, market, createJudge(market, false))).toBeGreaterThan(30)
  })
})

describe('a rival that wants a third of an honest seller’s score', () => {
  const SIZES = IS_LONG ? [4, 10, 25] : [4, 25]
  const victims = (IS_LONG ? [1, 4] : [1]).flatMap((seed) =>
    findVictims({ ...MARKETS.middle, buyers: 300 }, seed, SIZES),
  )
  const [rewards] = Object.keys(HARMS).filter((name) => name.startsWith('rewards'))

  test.each(someOf(Object.keys(HARMS), 2).filter((name) => name !== rewards))(
    '%s: five dollars or more',
    (name) => {
      const harm = HARMS[name]
      for (const victim of victims)
        expect((harm && findHarm(harm, victim)) ?? 5).toBeGreaterThanOrEqual(5)
    },
  )

  longTest('rewards to its buyers: less only where they are few, which /trust says', () => {
    const harm = HARMS[rewards ?? '']
    const prices = victims.map((victim) => (harm && findHarm(harm, victim)) ?? 100)
    const least = SIZES.map((_, size) =>
      Math.min(prices[size] ?? 0, prices[size + SIZES.length] ?? 100),
    )
    const [few, many] = [least[0], least.at(-1)]
    expect(few).toBeGreaterThan(0.2)
    expect(few).toBeLessThan(5)
    expect(many).toBeGreaterThan(5)
  })
})

describe('the relay and the meter', async () => {
  const machine = await openMachine()
  afterAll(machine.close)
  /** Each is named among what gets past the rules. */
  const PAST = [
    'five hundred transfers to the seller',
    'the seller’s payee, published as one’s own',
  ]

  test.each(someOf(Object.entries(PLAYS), 3))('%s', async (name, play) => {
    const [before, after] = [await machine.scoreOf(withoutPlay(play)), await machine.scoreOf(play)]
    if (play.aim === 'harm') expect(before).toBeGreaterThan(40)
    const isHeld = play.aim === 'harm' ? after >= before : after <= before
    expect(isHeld).toBe(!PAST.some((known) => name.startsWith(known)))
  })
})

describe('honest sellers, whose buyers use two sellers or more and pay a known one', () => {
  test.each([['middle', 0.7] as const, ...(IS_LONG ? [['rich', 0.9] as const] : [])])(
    'keep most of them in the %s market',
    (name, least) => {
      const all = createMarket(MARKETS[name], 1)
      const payers = [...Map.groupBy(all.payments, ({ payer }) => payer).values()]
      const known = payers.filter(
        (paid) =>
          new Set(paid.map(({ shop }) => shop)).size >= 2 &&
          paid.some(({ shop }) => all.seeds.includes(shop)),
      )
      const some = { ...all, payments: known.flat() }
      const count = (measured: boolean) => {
        const { buyersOf } = createJudge(some, measured)({})
        return some.shops.reduce((sum, shop) => sum + buyersOf(shop), 0)
      }
      expect(count(true) / count(false)).toBeGreaterThan(least)
    },
  )
})
