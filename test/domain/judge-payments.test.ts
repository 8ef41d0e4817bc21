import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  type LedgerPayee,
  type LedgerPayment,
  LedgerPaymentSchema,
  toPublishedPayment,
} from '../../src/domain/trust/ledger-facts.ts'
import {
  findMeasuredSeeds,
  isVouchedSale,
  type Purchase,
  scoreListings,
  weighBuyer,
} from '../../src/domain/trust/score-listings.ts'
import { judgeSeen, type SeenPayment } from '../support/judge-seen.ts'
import { drawsOf } from '../support/long.ts'

const NETWORK = 'eip155:8453'
const AS_OF = '2026-11-30T23:59:59.999Z'
const NOON = Date.parse('2026-11-20T12:00:00Z')
const address = (n: number) => `0x${n.toString(16).padStart(40, '0')}`
const SEEDS = ['one.seed', 'two.seed', 'three.seed']
const SHOPS = ['a.example', 'b.example', 'c.example', 'd.example']
const OWNERS = [...SEEDS, ...SHOPS]
const payees: LedgerPayee[] = OWNERS.map((owner, n) => ({
  payee: `${NETWORK}:${address(n + 1)}`,
  owner,
  proof: 'published',
  listings: [`x402.${owner}`],
}))

let made = 0
function seen(
  payer: number,
  owner: string,
  changes: Partial<SeenPayment> & { usd: number },
): SeenPayment {
  made += 1
  return {
    network: NETWORK,
    transaction: `0x${made.toString(16).padStart(64, '0')}`,
    log: 1,
    payer: address(1000 + payer),
    payee: address(OWNERS.indexOf(owner) + 1),
    amount: String(Math.round(changes.usd * 1_000_000)),
    at: NOON - made * 3_600_000,
    block: null,
    scheme: 'eip3009',
    listing_id: null,
    is_untraced: false,
    ...changes,
  }
}

const judge = (payments: readonly SeenPayment[], own = payees) =>
  judgeSeen(payments, {
    asOf: Date.parse(AS_OF),
    payees: own,
    transfers: [],
    hasPaidElsewhere: () => false,
  })
const score = (payments: readonly LedgerPayment[], own = payees) =>
  scoreListings({ as_of: AS_OF, payments, payees: own, seeds: new Set(SEEDS) })

/** Ten people paid each known seller what vouches for one listing, so that the rule holds. */
const measured = SEEDS.flatMap((owner) =>
  Array.from({ length: 10 }, (_, n) =>
    seen(90 + n, owner, { usd: 0.26, at: NOON - n * 3_600_000 }),
  ),
)

describe('how much a buyer counts', () => {
  const buy = (owner: string, usd: number, day = 1): Purchase => ({
    day,
    micros: Math.round(usd * 1_000_000),
    owner,
    listings: [owner],
  })
  const weigh = (...purchases: Purchase[]) =>
    Object.fromEntries(weighBuyer(purchases, new Set(SEEDS)))

  test('in full for 26 cents that it paid known sellers, and in part for less', () => {
    expect(weigh(buy('a', 0.01), buy('one.seed', 0.26))).toMatchObject({ a: 1_000_000 })
    expect(weigh(buy('a', 0.01), buy('one.seed', 0.13))).toMatchObject({ a: 500_000 })
    expect(weigh(buy('a', 0.01))).toEqual({})
  })

  test('shares that money over all listings it bought from', () => {
    const seeds = [buy('one.seed', 0.2), buy('two.seed', 0.06)]
    expect(weigh(buy('a', 0.5), buy('b', 0.5), ...seeds)).toMatchObject({ a: 500_000, b: 500_000 })
  })

  test('gives what is over where one counts in full to the others', () => {
    const bought = [buy('a', 0.3), buy('a', 0.3, 2), buy('a', 0.3, 3), buy('b', 0.1)]
    expect(weigh(...bought, buy('one.seed', 0.52))).toMatchObject({ a: 1_000_000, b: 1_000_000 })
    expect(weigh(...bought, buy('one.seed', 0.286))).toMatchObject({ a: 1_000_000, b: 100_000 })
  })

  test('is hardly less for a hundred cheap things of others', () => {
    const cheap = Array.from({ length: 100 }, (_, n) => buy(`cheap-${n}`, 0.01))
    const bought = [buy('a', 0.2), buy('a', 0.2, 2), buy('one.seed', 0.3)]
    expect(weigh(...bought, ...cheap).a).toBeGreaterThan(950_000)
  })

  test('at a known seller by what it paid the others on the list', () => {
    expect(weigh(buy('one.seed', 9), buy('two.seed', 0.13))).toEqual({
      'one.seed': 500_000,
      'two.seed': 1_000_000,
    })
  })

  test('never more in all than the money it gave, however it buys', () => {
    const purchase = fc.record({
      owner: fc.constantFrom('one.seed', 'a', 'b', 'c', 'd', 'e'),
      usd: fc.integer({ min: 1, max: 3_000_000 }),
      day: fc.integer({ min: 1, max: 28 }),
    })
    fc.assert(
      fc.property(fc.array(purchase, { maxLength: 40 }), (list) => {
        const purchases = list.map(({ owner, usd, day }) => buy(owner, usd / 1_000_000, day))
        const given = purchases
          .filter(({ owner }) => SEEDS.includes(owner))
          .reduce((sum, { micros }) => sum + micros, 0)
        const { 'one.seed': _, ...weights } = weigh(...purchases)
        const all = Object.values(weights).reduce((sum, weight) => sum + weight, 0)
        expect(all).toBeLessThanOrEqual((given * 1_000_000) / 260_000)
        expect(weigh(...purchases.toReversed())).toEqual(weigh(...purchases))
      }),
    )
  })
})

describe('the verdict of a payment', () => {
  test('says why it does not count', () => {
    const rows = judge([
      seen(1, 'a.example', { usd: 0.5 }),
      seen(2, 'a.example', { usd: 0 }),
      seen(3, 'a.example', { usd: 0.5, is_untraced: true }),
      seen(4, 'a.example', { usd: 0.5, payee: address(77) }),
      seen(5, 'a.example', { usd: 0.5, payer: address(OWNERS.indexOf('a.example') + 1) }),
    ])
    for (const row of rows)
      expect(v.parse(LedgerPaymentSchema, toPublishedPayment(row))).toEqual({
        ...row,
        block: undefined,
      })
    expect(rows.map(({ verdict }) => verdict)).toEqual([
      'counted',
      'nothing_paid',
      'payer_untraced',
      'payee_not_owned',
      'self_payment',
    ])
    expect(rows.map(({ listings }) => listings.length)).toEqual([1, 1, 1, 0, 1])
  })

  test('is for the one listing that was called, where several share the payee', () => {
    const shared = payees.map((one) =>
      one.owner === 'a.example' ? { ...one, listings: ['x402.a', 'x402.b'] } : one,
    )
    const [called, other] = judge(
      [
        seen(1, 'a.example', { usd: 0.5, listing_id: 'x402.b' }),
        seen(1, 'a.example', { usd: 0.5, listing_id: 'x402.elsewhere' }),
      ],
      shared,
    )
    expect(called?.listings).toEqual(['x402.b'])
    expect(other?.listings).toEqual(['x402.a', 'x402.b'])
  })
})

describe('the numbers of a listing', () => {
  test('count everybody in full where fewer than three known sellers were paid', () => {
    const { listings, measuredSeeds } = score(judge([seen(1, 'a.example', { usd: 0.5 })]))
    expect(measuredSeeds).toBe(0)
    expect(listings.get('x402.a.example')?.measured).toMatchObject({
      verified_buyers_30d: 1,
      settlements_30d: 1,
    })
    expect(listings.get('x402.a.example')?.measured.unknown_buyers_30d).toBeUndefined()
    expect(listings.get('x402.b.example')?.measured.raw).toMatchObject({ settlements: 0 })
  })

  test('count everybody in full until three known sellers were paid by enough', () => {
    const measuredBy = (rows: readonly SeenPayment[]) => score(judge(rows)).measuredSeeds
    expect(measuredBy(measured)).toBe(3)
    expect(measuredBy(measured.slice(1))).toBe(2)
    // One that pays much is one buyer.
    const rich = SEEDS.map((owner) => seen(99, owner, { usd: 500, at: NOON }))
    expect(measuredBy(rich)).toBe(0)
    expect(measuredBy([...measured.slice(1), seen(1, 'one.seed', { usd: 0.26 })])).toBe(3)
    const small = Array.from({ length: 26 }, (_, n) =>
      seen(n, 'one.seed', { usd: 0.1, at: NOON - n * 7_200_000 }),
    )
    expect(measuredBy(small)).toBe(1)
  })

  test('know more sellers, never fewer, by one payment more', () => {
    const purchase = fc.record({
      payer: fc.constantFrom('p', 'q', 'r'),
      owner: fc.constantFrom(...OWNERS),
      usd_micro: fc.integer({ min: 1, max: 3_000_000 }),
    })
    const known = (list: { payer: string; owner: string; usd_micro: number }[]) =>
      findMeasuredSeeds(list, ({ owner }) => owner, new Set(SEEDS)).length
    fc.assert(
      fc.property(fc.array(purchase, { maxLength: 60 }), purchase, (list, more) => {
        expect(known([...list, more])).toBeGreaterThanOrEqual(known(list))
      }),
    )
  })

  test('count a buyer in part, with its payments and dollars', () => {
    const rows = judge([
      ...measured,
      ...[1, 2].map((payer) => seen(payer, 'a.example', { usd: 0.5 })),
      seen(1, 'one.seed', { usd: 0.26 }),
      seen(2, 'one.seed', { usd: 0.13 }),
      seen(3, 'a.example', { usd: 0.5 }),
    ])
    const found = score(rows).listings.get('x402.a.example')
    expect(found?.measured).toMatchObject({
      verified_buyers_30d: 1.5,
      settlements_30d: 1.5,
      volume_usd_30d: 0.75,
      unknown_buyers_30d: 1,
    })
    expect(found?.measured.top_buyer_share_30d).toBeCloseTo(1 / 1.5)
  })

  test('count ten payments and ten dollars of one buyer', () => {
    const often = Array.from({ length: 15 }, () => seen(1, 'a.example', { usd: 1, at: NOON }))
    const found = score(judge([...measured, ...often, seen(1, 'one.seed', { usd: 1 })]))
    expect(found.listings.get('x402.a.example')?.measured).toMatchObject({
      verified_buyers_30d: 1,
      settlements_30d: 10,
      volume_usd_30d: 10,
    })
  })

  test('are the same in any order of rows', () => {
    const payment = fc
      .tuple(
        fc.nat(5),
        fc.constantFrom(...OWNERS),
        fc.integer({ min: 1, max: 900_000 }),
        fc.nat(89),
      )
      .map(([payer, owner, micros, day]) =>
        seen(payer, owner, { usd: micros / 1_000_000, at: Date.parse(AS_OF) - day * 86_400_000 }),
      )
    fc.assert(
      fc.property(
        fc.array(payment, { maxLength: 60 }),
        fc.infiniteStream(fc.nat()),
        (list, keys) => {
          const rows = judge([...measured, ...list])
          const order = rows.map((row) => ({ row, key: keys.next().value ?? 0 }))
          const shuffled = order.sort((a, b) => a.key - b.key).map(({ row }) => row)
          expect(score(shuffled)).toEqual(score(rows))
        },
      ),
      { numRuns: drawsOf(50) },
    )
  })
})

test('a sale is vouched for where it counts and known sellers vouch for its buyer', () => {
  const rows = judge([
    ...measured,
    seen(1, 'a.example', { usd: 0.2 }),
    seen(1, 'one.seed', { usd: 0.26 }),
    seen(2, 'a.example', { usd: 0.2 }),
  ])
  const vouchedOf = (own: readonly LedgerPayment[]) => {
    const found = score(own).listings.get('x402.a.example')
    return own.filter((row) => row.listings.includes('x402.a.example') && isVouchedSale(row, found))
  }
  expect(vouchedOf(rows).map(({ payer }) => payer)).toEqual([address(1001)])
  expect(vouchedOf(rows.map((row) => ({ ...row, verdict: 'round_trip' })))).toEqual([])
  // Where no known seller is measured the rule says nothing.
  expect(vouchedOf(rows.filter(({ payer }) => payer !== address(1099)))).toEqual([])
})
