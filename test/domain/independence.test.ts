import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  CAP_MICRO,
  type Market,
  measureGivenAway,
  type Purchase,
} from '../../src/domain/independence/given-away.ts'
import { judgeIndependence } from '../../src/domain/independence/independence.ts'
import { createFlowNetwork } from '../../src/domain/independence/max-flow.ts'
import {
  findFundings,
  groupOperators,
  MAX_FUNDED,
} from '../../src/domain/independence/operators.ts'
import { aSettlement, aTransfer } from '../settlements/samples.ts'
import { toMeasured } from './listing-samples.ts'

const SEED = 'shop.seed'
const DOLLAR = 1_000_000

/** Listings are their own operators here; `shop.seed` is the one that is known. */
function toMarket(purchases: readonly Purchase[]): Market {
  const operatorOf = new Map(purchases.map(({ listing_id }) => [listing_id, listing_id]))
  return {
    purchases,
    operatorOf,
    seeds: new Set([SEED]),
    walletsOf: new Map(),
    cashLike: new Set(),
  }
}

function givenTo(id: string, purchases: readonly Purchase[]): number {
  return measureGivenAway(toMarket(purchases)).get(id) ?? 0
}

let payments = 0
const pay = (payer: string, listing_id: string, micro_usd: number): Purchase => ({
  payment: String(++payments),
  payer,
  listing_id,
  micro_usd,
})

const purchase = (wallets: string, shops: readonly string[]) =>
  fc
    .tuple(
      fc.integer({ min: 0, max: 7 }),
      fc.constantFrom(...shops),
      fc.integer({ min: 1, max: 9 * DOLLAR }),
    )
    .map(([index, shop, micros]) => pay(`${wallets}${index}`, shop, micros))
const SHOPS = ['shop.a', 'shop.b', 'shop.c', 'shop.d']
const anywhere = fc.array(purchase('wallet', [...SHOPS, SEED]), { maxLength: 40 })
const inRing = fc.array(purchase('ring', SHOPS), { maxLength: 40 })
const elsewhere = fc.array(purchase('honest', ['shop.x', 'shop.y', SEED]), { maxLength: 40 })

describe('what buyers gave away elsewhere', () => {
  test('is what they paid an operator on the list, up to the cap for each', () => {
    const sales = [pay('w1', 'shop.a', 1000), pay('w2', 'shop.a', 1000)]
    expect(givenTo('shop.a', sales)).toBe(0)
    expect(givenTo('shop.a', [...sales, pay('w1', SEED, 2 * DOLLAR)])).toBe(2 * DOLLAR)
    expect(givenTo('shop.a', [...sales, pay('w1', SEED, 90 * DOLLAR)])).toBe(CAP_MICRO)
  })

  test('is what they paid others too, as far as strangers who pay the list paid those', () => {
    const toOther = [pay('w1', 'shop.a', 1000), pay('w1', 'shop.b', 3 * DOLLAR)]
    expect(givenTo('shop.a', toOther)).toBe(0)
    const stranger = [pay('s', 'shop.b', 2 * DOLLAR), pay('s', SEED, DOLLAR)]
    expect(givenTo('shop.a', [...toOther, ...stranger])).toBe(DOLLAR)
  })

  test('counts each dollar once, however many wallets point to it', () => {
    const sales = ['w1', 'w2', 'w3'].flatMap((wallet) => [
      pay(wallet, 'shop.a', 1000),
      pay(wallet, 'shop.b', DOLLAR),
    ])
    const dummy = [pay('d', 'shop.b', 9 * DOLLAR), pay('d', SEED, DOLLAR)]
    expect(givenTo('shop.a', [...sales, ...dummy])).toBe(DOLLAR)
  })

  test('leaves out what was paid to listings of the same operator', () => {
    const purchases = [pay('w1', 'shop.a', 1000), pay('w1', 'shop.b', 4 * DOLLAR)]
    const stranger = [pay('s', 'shop.b', 4 * DOLLAR), pay('s', SEED, 4 * DOLLAR)]
    const market = toMarket([...purchases, ...stranger])
    expect(measureGivenAway(market).get('shop.a')).toBe(4 * DOLLAR)
    const operatorOf = new Map([...market.operatorOf, ['shop.b', 'shop.a']])
    expect(measureGivenAway({ ...market, operatorOf }).get('shop.a')).toBe(0)
  })

  test('counts a payment to a payout that listings share once', () => {
    const shared = pay('s', 'shop.b', 2 * DOLLAR)
    const market = toMarket([
      pay('w1', 'shop.a', 1000),
      pay('w1', 'shop.b', 9 * DOLLAR),
      ...[shared, { ...shared, listing_id: 'shop.c' }],
      pay('s', SEED, 9 * DOLLAR),
    ])
    const operatorOf = new Map([...market.operatorOf, ['shop.c', 'shop.b']])
    expect(measureGivenAway({ ...market, operatorOf }).get('shop.a')).toBe(2 * DOLLAR)
  })

  test('leaves out what was paid for what is as good as money, on the list or on the way to it', () => {
    const sales = [pay('w1', 'shop.a', 1000), pay('w1', 'shop.gifts', 3 * DOLLAR)]
    const stranger = [pay('s', 'shop.gifts', 3 * DOLLAR), pay('s', SEED, 3 * DOLLAR)]
    const market = toMarket([...sales, ...stranger, pay('w1', SEED, DOLLAR)])
    const givenWith = (...cashLike: string[]) =>
      measureGivenAway({ ...market, cashLike: new Set(cashLike) }).get('shop.a')
    expect(givenWith()).toBe(4 * DOLLAR)
    expect(givenWith('shop.gifts')).toBe(DOLLAR)
    expect(givenWith('shop.gifts', SEED)).toBe(0)
  })

  test('leaves out what the operator’s own wallets paid', () => {
    const market = toMarket([pay('s', 'shop.a', 1000), pay('s', SEED, 4 * DOLLAR)])
    expect(measureGivenAway(market).get('shop.a')).toBe(4 * DOLLAR)
    const walletsOf = new Map([['shop.a', new Set(['s'])]])
    expect(measureGivenAway({ ...market, walletsOf }).get('shop.a')).toBe(0)
  })

  test('a ring that pays only itself stays at nothing, whatever its shape', () => {
    fc.assert(
      fc.property(inRing, elsewhere, (ring, honest) => {
        const given = measureGivenAway(toMarket([...ring, ...honest]))
        expect(SHOPS.map((id) => given.get(id) ?? 0)).toEqual([0, 0, 0, 0])
      }),
    )
  })

  test('a new buyer who pays nobody else adds nothing', () => {
    fc.assert(
      fc.property(anywhere, fc.nat(9 * DOLLAR), (market, paid) => {
        const more = [...market, pay('new', 'shop.a', paid)]
        expect(givenTo('shop.a', more)).toBe(givenTo('shop.a', market))
      }),
    )
  })

  test('an independent buyer never lowers it, new or known elsewhere', () => {
    const buyer = fc.array(purchase('wallet', [...SHOPS, SEED]), { maxLength: 6 })
    fc.assert(
      fc.property(anywhere, buyer, fc.boolean(), (market, others, isKnown) => {
        const payer = isKnown ? 'wallet0' : 'new'
        const own = others.map((each) => ({ ...each, payer }))
        const more = [...market, pay(payer, 'shop.a', 1000), ...own]
        expect(givenTo('shop.a', more)).toBeGreaterThanOrEqual(givenTo('shop.a', market))
      }),
    )
  })

  test('no ring gets out more than it gave to outsiders and outsiders paid its shops', () => {
    const ring = { shops: new Set(['shop.a', 'shop.b']), wallets: /[0-3]$/ }
    fc.assert(
      fc.property(anywhere, (market) => {
        // The whole listing is invented: all its buyers are the ring's.
        const invented = market.filter(
          ({ payer, listing_id }) => listing_id !== 'shop.a' || ring.wallets.test(payer),
        )
        const crossing = invented.filter(
          ({ payer, listing_id }) => ring.wallets.test(payer) !== ring.shops.has(listing_id),
        )
        const most = crossing.reduce((sum, { micro_usd }) => sum + micro_usd, 0)
        expect(givenTo('shop.a', invented)).toBeLessThanOrEqual(most)
      }),
    )
  })

  test('never exceeds the cap for each buyer, and depends on no order', () => {
    fc.assert(
      fc.property(anywhere, (market) => {
        const buyers = new Set(
          market.filter(({ listing_id }) => listing_id === 'shop.a').map(({ payer }) => payer),
        )
        const given = givenTo('shop.a', market)
        expect(given).toBeLessThanOrEqual(CAP_MICRO * buyers.size)
        expect(givenTo('shop.a', market.toReversed())).toBe(given)
      }),
    )
  })
})

describe('the largest flow', () => {
  const NODES = 6
  const edges = fc.array(
    fc.tuple(fc.nat(NODES - 1), fc.nat(NODES - 1), fc.integer({ min: 0, max: 9 })),
    { maxLength: 14 },
  )

  test('is the smallest cut, each time it is asked', () => {
    fc.assert(
      fc.property(edges, (list) => {
        const network = createFlowNetwork(NODES)
        for (const [from, to, capacity] of list) network.addEdge(from, to, capacity)
        const cuts = Array.from({ length: 2 ** NODES }, (_, set) => set)
          .filter((set) => (set & 1) === 1 && (set & (1 << (NODES - 1))) === 0)
          .map((set) =>
            list
              .filter(([from, to]) => ((set >> from) & 1) === 1 && ((set >> to) & 1) === 0)
              .reduce((sum, [, , capacity]) => sum + capacity, 0),
          )
        expect(network.maxFlow([0], NODES - 1, -1)).toBe(Math.min(...cuts))
        expect(network.maxFlow([0], NODES - 1, -1)).toBe(Math.min(...cuts))
      }),
    )
  })

  test('touches no banned node', () => {
    const network = createFlowNetwork(3)
    network.addEdge(0, 1, 5)
    network.addEdge(1, 2, 5)
    expect(network.maxFlow([0], 2, -1)).toBe(5)
    expect(network.maxFlow([0], 2, 1)).toBe(0)
  })
})

describe('who is one operator', () => {
  const A = `eip155:8453:0x${'aA'.repeat(20)}`
  const B = `eip155:8453:0x${'bb'.repeat(20)}`
  const wallet = (payout: string) => payout.split(':')[2] ?? ''
  const group = (
    one: Partial<{ owner: string; payouts: string[] }>,
    two: Partial<{ owner: string; payouts: string[] }>,
    fundings: { wallet: string; funder: string }[] = [],
    seeds: string[] = [],
  ) => {
    const operators = groupOperators(
      [
        { id: 'x402.one', owner: 'one.example', payouts: [A], ...one },
        { id: 'x402.two', owner: 'two.example', payouts: [B], ...two },
      ],
      fundings,
      new Set(seeds),
    )
    return operators.get('x402.one') === operators.get('x402.two')
  }
  const funder = `0x${'cc'.repeat(20)}`
  const both = [A, B].map((payout) => ({ wallet: wallet(payout), funder }))

  test.each([
    ['nothing in common', group({}, {}), false],
    ['one domain', group({}, { owner: 'one.example' }), true],
    ['one payout, on another chain too', group({}, { payouts: [`eip155:1:${wallet(A)}`] }), true],
    ['one funder', group({}, {}, both), true],
    ['funded by the other', group({}, {}, [{ wallet: wallet(B), funder: wallet(A) }]), true],
    ['one funder, but of everybody', group({}, {}, toCrowd(both)), false],
    ['money from a stranger to a seed', group({}, {}, both, ['one.example']), false],
  ])('%s', (_, isOne, expected) => {
    expect(isOne).toBe(expected)
  })

  function toCrowd(fundings: typeof both) {
    const others = Array.from({ length: MAX_FUNDED }, (_, index) => ({
      wallet: `w${index}`,
      funder,
    }))
    return [...fundings, ...others]
  }

  test('only money from before the first payment ties, and only the first', () => {
    const at = (time: number, from: string) =>
      aTransfer({ transaction: `t${time}`, from, to: wallet(A), at: time })
    const settlement = aSettlement({ payee: wallet(A), at: 100 })
    const before = [at(20, 'second'), at(10, 'first')]
    expect(findFundings([settlement], [...before, at(110, 'late')])).toEqual([
      { wallet: wallet(A).toLowerCase(), funder: 'first' },
    ])
    expect(findFundings([settlement], [at(100, 'same second')])).toEqual([])
  })
})

describe('hub-trust-v0.2', () => {
  const measured = toMeasured({ verified_buyers_30d: 10, settlements_30d: 60 })

  test('ten real buyers of a small seller give it a score', () => {
    const { score } = judgeIndependence(measured, 10 * DOLLAR, 1)
    expect(score).toBeGreaterThan(0)
    expect(judgeIndependence(measured, 10 * CAP_MICRO, 1)).toMatchObject({ weighted_buyers: 10 })
  })

  test('buyers that gave nothing away give no score, which is not a zero', () => {
    expect(judgeIndependence(measured, 0, 1)).toEqual({
      cost_to_fake_usd: 0.0006,
      weighted_buyers: 0,
      score: null,
    })
  })

  test('settlements and volume count as far as buyers with weight stand for them', () => {
    const turned = { verified_buyers_30d: 100, settlements_30d: 5000, volume_usd_30d: 5000 }
    const scoreOf = (change: Partial<typeof turned>) =>
      judgeIndependence(toMeasured({ ...turned, ...change }), 10 * CAP_MICRO, 1).score
    expect(scoreOf({})).toBe(scoreOf({ settlements_30d: 100, volume_usd_30d: 100 }))
    expect(scoreOf({})).toBeGreaterThan(scoreOf({ settlements_30d: 50 }) ?? 100)
  })

  test('payments of buyers without weight never lower it', () => {
    const counts = fc.record({ buyers: fc.nat(300), settlements: fc.nat(3000), usd: fc.nat(3000) })
    fc.assert(
      fc.property(fc.nat(99 * DOLLAR), counts, (given, more) => {
        const paid = toMeasured({
          verified_buyers_30d: 10 + more.buyers,
          settlements_30d: 60 + more.settlements,
          volume_usd_30d: measured.volume_usd_30d + more.usd,
        })
        const score = judgeIndependence(measured, given, 1).score ?? 0
        expect(judgeIndependence(paid, given, 1).score ?? 0).toBeGreaterThanOrEqual(score)
      }),
    )
  })

  test('more given away never lowers it, and it never exceeds what v0.1 says', () => {
    fc.assert(
      fc.property(fc.nat(99 * DOLLAR), fc.nat(99 * DOLLAR), (given, more) => {
        const score = judgeIndependence(measured, given, 1).score ?? 0
        expect(judgeIndependence(measured, given + more, 1).score ?? 0).toBeGreaterThanOrEqual(
          score,
        )
        expect(score).toBeLessThanOrEqual(judgeIndependence(measured, 10 * CAP_MICRO, 1).score ?? 0)
      }),
    )
  })
})
