import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import type { Market } from '../../src/domain/independence/buying-wallets.ts'
import { createFlowEdges } from '../../src/domain/independence/max-flow.ts'
import { groupOperators, type OperatorFacts } from '../../src/domain/independence/operators.ts'
import { findVouched } from '../../src/domain/independence/vouching.ts'
import type { Settlement } from '../../src/domain/settlement/settlement.ts'
import { aSettlement } from '../settlements/samples.ts'

const [SEED, OTHER_SEED] = ['shop.seed', 'shop.seed-two']

/** Listings are their own operators here, unless said otherwise; two are known. */
function vouchedFor(
  id: string,
  payments: readonly Settlement[],
  changes: Partial<Market> & { operators?: Record<string, string> } = {},
): string[] {
  const { operators = {}, ...market } = changes
  const byListing = Map.groupBy(payments, ({ listing_id }) => listing_id)
  const operatorOf = new Map([...byListing.keys()].map((one) => [one, operators[one] ?? one]))
  const found = findVouched({
    payments: byListing,
    operatorOf,
    seeds: new Set([SEED, OTHER_SEED]),
    cashLike: new Set(),
    ...market,
  })
  return [...(found.get(id) ?? [])].sort()
}

const pay = (payer: string, listing_id: string, usd: number) =>
  aSettlement({ payer, listing_id, usd, amount: String(Math.round(usd * 1_000_000)) })

describe('who is vouched for', () => {
  test('gave a quarter of a dollar to a known seller, and not a millionth less', () => {
    const sold = pay('w', 'shop.a', 0.01)
    expect(vouchedFor('shop.a', [sold])).toEqual([])
    expect(vouchedFor('shop.a', [sold, pay('w', SEED, 0.249999)])).toEqual([])
    expect(vouchedFor('shop.a', [sold, pay('w', SEED, 0.25)])).toEqual(['w'])
  })

  test('needs as much again for each listing it bought from, also of one seller', () => {
    const bought = [pay('w', 'shop.a', 0.01), pay('w', 'shop.b', 0.01)]
    const count = (usd: number, operators = {}) =>
      ['shop.a', 'shop.b'].flatMap((id) =>
        vouchedFor(id, [...bought, pay('w', SEED, usd)], { operators }),
      ).length
    for (const operators of [{}, { 'shop.b': 'shop.a' }]) {
      expect(count(0.49, operators)).toBe(1)
      expect(count(0.5, operators)).toBe(2)
    }
  })

  test('is not vouched for by what it paid the seller itself, even a known one', () => {
    expect(vouchedFor(SEED, [pay('w', SEED, 9), pay('w', 'shop.a', 0.01)])).toEqual([])
    expect(vouchedFor(SEED, [pay('w', SEED, 9), pay('w', OTHER_SEED, 0.25)])).toEqual(['w'])
  })

  test('may have paid a seller whose own buyers paid a known one, as far as those gave', () => {
    const market = (strangers: number) => [
      pay('w', 'shop.a', 0.01),
      pay('w', 'shop.b', 1),
      pay('s', 'shop.b', 1),
      pay('s', SEED, strangers),
    ]
    // The stranger's own quarter comes first.
    expect(vouchedFor('shop.a', market(0.25))).toEqual([])
    expect(vouchedFor('shop.a', market(0.5))).toEqual(['w'])
  })

  test('shares no dollar with another: three that point to one stranger are one', () => {
    const three = ['w1', 'w2', 'w3'].flatMap((w) => [pay(w, 'shop.a', 0.01), pay(w, 'shop.b', 1)])
    const stranger = [pay('s', 'shop.b', 5), pay('s', SEED, 0.5)]
    expect(vouchedFor('shop.a', [...three, ...stranger])).toHaveLength(1)
  })

  test('is not vouched for by gift cards, credit or cash', () => {
    const bought = [pay('w', 'shop.a', 0.01), pay('w', SEED, 5)]
    expect(vouchedFor('shop.a', bought, { cashLike: new Set([SEED]) })).toEqual([])
  })

  test('counts a payment to a payout that listings share once', () => {
    const shared = pay('w', 'shop.b', 0.25)
    const stranger = [pay('s', 'shop.b', 9), pay('s', SEED, 9)]
    const payments = [
      pay('w', 'shop.a', 0.01),
      shared,
      { ...shared, listing_id: 'shop.c' },
      ...stranger,
    ]
    const operators = { 'shop.c': 'shop.b' }
    expect(vouchedFor('shop.a', payments, { operators })).toEqual(['w'])
    const more = [...payments, pay('w', 'shop.d', 0.01)]
    expect(['shop.a', 'shop.d'].flatMap((id) => vouchedFor(id, more, { operators }))).toEqual(['w'])
  })

  test('loses nothing to a seller that splits itself into a hundred listings', () => {
    const shared = pay('w', 'split.0', 0.9)
    const split = Array.from({ length: 100 }, (_, n) => ({ ...shared, listing_id: `split.${n}` }))
    const operators = Object.fromEntries(split.map(({ listing_id }) => [listing_id, 'split']))
    const payments = [...split, pay('w', 'shop.a', 0.01), pay('w', SEED, 0.5)]
    expect(vouchedFor('shop.a', payments, { operators })).toEqual(['w'])
  })

  test('goes on counting for whom it bought from first, whatever a rival gives it later', () => {
    const first = [pay('w', SEED, 0.25), { ...pay('w', 'shop.z', 0.05), at: 1 }]
    const gifts = [0.001, 5].map((usd, n) => ({ ...pay('w', `shop.${n}`, usd), at: 2 }))
    expect(vouchedFor('shop.z', [...first, ...gifts])).toEqual(['w'])
    // What it bought before the window says who came first.
    const later = first.map((one) => ({ ...one, at: 3 }))
    expect(vouchedFor('shop.z', [...later, ...gifts])).toEqual([])
    const earlier = new Map([['shop.z', first]])
    expect(vouchedFor('shop.z', [...later, ...gifts], { earlier })).toEqual(['w'])
  })

  test('comes for a seller it paid next to nothing after all others', () => {
    const gift = { ...pay('w', 'shop.gift', 0.0249), at: 1 }
    const bought = [pay('w', SEED, 0.25), { ...pay('w', 'shop.a', 0.025), at: 2 }]
    expect(vouchedFor('shop.a', [gift, ...bought])).toEqual(['w'])
    expect(vouchedFor('shop.gift', [gift, pay('w', SEED, 0.25)])).toEqual(['w'])
  })
})

describe('properties', () => {
  const SHOPS = ['shop.a', 'shop.b', 'shop.c', 'shop.d']
  const purchases = (wallets: string, shops: readonly string[]) =>
    fc.array(
      fc
        .tuple(fc.nat(7), fc.constantFrom(...shops), fc.integer({ min: 1, max: 200 }))
        .map(([index, shop, cents]) => pay(`${wallets}${index}`, shop, cents / 100)),
      { maxLength: 40 },
    )
  const count = (payments: readonly Settlement[], isCounted: (payer: string) => boolean) =>
    [...new Set(payments.map(({ listing_id }) => listing_id))]
      .flatMap((id) => vouchedFor(id, payments))
      .filter(isCounted).length

  test('a ring is vouched for no further than it gave to others and others paid its shops', () => {
    const ring = (payer: string) => payer.startsWith('ring')
    const own = (shop: string) => shop === 'shop.a' || shop === 'shop.b'
    fc.assert(
      fc.property(
        purchases('ring', [...SHOPS, SEED]),
        purchases('honest', [...SHOPS, SEED]),
        (bad, good) => {
          const payments = [...bad, ...good]
          const crossing = payments.filter(
            ({ payer, listing_id }) => ring(payer) !== own(listing_id),
          )
          const usd = crossing.reduce((sum, payment) => sum + payment.usd, 0)
          expect(count(payments, ring) * 0.25).toBeLessThanOrEqual(usd + 1e-6)
        },
      ),
    )
  })

  test('depends on no order', () => {
    fc.assert(
      fc.property(purchases('w', [...SHOPS, SEED, OTHER_SEED]), (payments) => {
        for (const id of SHOPS)
          expect(vouchedFor(id, payments.toReversed())).toEqual(vouchedFor(id, payments))
      }),
    )
  })
})

test('the largest flow is the smallest cut', () => {
  const NODES = 6
  const edges = fc.array(
    fc.tuple(fc.nat(NODES - 1), fc.nat(NODES - 1), fc.integer({ min: 0, max: 9 })),
    { minLength: 1, maxLength: 14 },
  )
  fc.assert(
    fc.property(edges, (list) => {
      const added = createFlowEdges(list.length + 1)
      const last = added.add(NODES - 1, NODES, 1_000)
      for (const [from, to, capacity] of list) added.add(from, to, capacity)
      const network = added.toNetwork()
      const cuts = Array.from({ length: 2 ** NODES }, (_, set) => set)
        .filter((set) => (set & 1) === 1 && (set & (1 << (NODES - 1))) === 0)
        .map((set) =>
          list
            .filter(([from, to]) => ((set >> from) & 1) === 1 && ((set >> to) & 1) === 0)
            .reduce((sum, [, , capacity]) => sum + capacity, 0),
        )
      network.fill(0, NODES, 99)
      expect(network.flowOf(last)).toBe(Math.min(...cuts))
      network.empty()
      expect(network.flowOf(last)).toBe(0)
    }),
  )
})

describe('who is one operator', () => {
  const A = `eip155:8453:0x${'aA'.repeat(20)}`
  const B = `eip155:8453:0x${'bb'.repeat(20)}`
  const ELSEWHERE = A.replace('8453', '1')
  const isOne = (
    one: Partial<OperatorFacts>,
    two: Partial<OperatorFacts>,
    seeds: string[] = [],
  ): boolean => {
    const operators = groupOperators(
      [
        { id: 'x402.one', owner: 'one.example', owned: [A], proven: [], ...one },
        { id: 'x402.two', owner: 'two.example', owned: [B], proven: [], ...two },
      ],
      new Set(seeds),
    )
    return operators.get('x402.one') === operators.get('x402.two')
  }

  test.each([
    ['nothing in common', isOne({}, {}), false],
    ['one domain', isOne({}, { owner: 'one.example' }), true],
    ['one payout', isOne({}, { owned: [A.toLowerCase()] }), true],
    ['one address on two chains', isOne({}, { owned: [ELSEWHERE] }), false],
    [
      'one address on two chains, proved at both',
      isOne({ proven: [A] }, { owned: [ELSEWHERE], proven: [ELSEWHERE] }),
      true,
    ],
    ['one payout, of a known seller', isOne({}, { owned: [A] }, ['one.example']), false],
  ])('%s', (_, found, expected) => {
    expect(found).toBe(expected)
  })
})
