import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { MeasuredSchema } from '../../src/domain/trust/evidence.ts'
import type { Transfer } from '../../src/domain/trust/payments.ts'
import { judgeTrust, windowEnd } from '../../src/domain/trust/trust.ts'
import { longTest } from '../support/long.ts'
import {
  aSettlement,
  aTransfer,
  DAY_MS,
  excludeWash,
  known,
  measureSeller,
  NOON,
  PAYOUT,
  type Settlement,
  wallet,
} from './samples.ts'

const MINUTE = 60_000
const flagsOf = (settlements: Settlement[], transfers: Transfer[] = []) =>
  excludeWash(settlements, known(transfers)).flags

/** Buyers nobody could object to: different times, amounts and days. */
const honest = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    aSettlement({ at: NOON - n * 7 * 3_600_000, amount: String(10_000 + n * 17), usd: 0.01 }),
  )

describe('self payment', () => {
  test.each([PAYOUT, PAYOUT.toUpperCase().replace('0X', '0x')])('from %s is excluded', (payout) => {
    const payments = [aSettlement({ payer: PAYOUT }), ...honest(2)]
    const result = excludeWash(payments, known([], { wallets: [payout] }))
    expect(result.flags).toEqual([{ flag: 'self_payment', settlements: 1 }])
    expect(result.independent).toHaveLength(2)
  })

  test('from another wallet of the seller’s is excluded', () => {
    const result = excludeWash(
      [aSettlement({ payer: wallet(9) })],
      known([], { wallets: [PAYOUT, wallet(9)] }),
    )
    expect(result.independent).toEqual([])
  })
})

describe('money from the payout wallet', () => {
  const buyer = wallet(5000)
  const paid = [
    aSettlement({ payer: buyer, at: NOON }),
    aSettlement({ payer: buyer, at: NOON + 1 }),
  ]

  test('before the first payment is funding', () => {
    expect(flagsOf(paid, [aTransfer({ to: buyer, at: NOON - 1, amount: '1' })])).toEqual([
      { flag: 'funded_by_payout', settlements: 2 },
    ])
  })

  test('after it is a refund, unless most comes back', () => {
    const back = (amount: string) => flagsOf(paid, [aTransfer({ to: buyer, at: NOON + 2, amount })])
    expect(back('16999')).toEqual([])
    expect(back('17000')).toEqual([{ flag: 'round_trip', settlements: 2 }])
  })

  test('in the second of the payment has no order, so it is a return and not funding', () => {
    const sameSecond = (changes: Partial<Transfer>) =>
      flagsOf(paid, [aTransfer({ to: buyer, at: NOON, ...changes })])
    expect(sameSecond({ amount: '17000' })).toEqual([{ flag: 'round_trip', settlements: 2 }])
    expect(sameSecond({ amount: '1' })).toEqual([])
  })

  test('in the transaction of the payment is ordered by its logs', () => {
    const [{ transaction = '' } = {}] = paid
    const within = (log: number) =>
      flagsOf(paid, [aTransfer({ to: buyer, at: NOON, amount: '1', transaction, log })])
    expect(within(0)).toEqual([{ flag: 'funded_by_payout', settlements: 2 }])
    expect(within(2)).toEqual([])
  })

  test('of nothing is none: anybody can write one in the seller’s name', () => {
    expect(flagsOf(paid, [aTransfer({ to: buyer, at: NOON - 1, amount: '0' })])).toEqual([])
  })

  test('to others changes nothing', () => {
    expect(
      flagsOf(paid, [aTransfer({ to: wallet(7) }), aTransfer({ from: wallet(8), to: buyer })]),
    ).toEqual([])
  })
})

describe('money of the seller’s that came by another wallet', () => {
  const [buyer, middle] = [wallet(6000), wallet(6001)]
  const paid = [aSettlement({ payer: buyer, at: NOON, block: 100, log: 5 })]
  const FUNDED = [{ flag: 'funded_by_payout', settlements: 1 }]
  const HOUR = 3_600_000
  const given = (changes: Partial<Transfer> = {}) =>
    aTransfer({ to: middle, at: NOON - 2 * HOUR, transaction: '0xa', ...changes })
  const passed = (changes: Partial<Transfer> = {}) =>
    aTransfer({ from: middle, to: buyer, at: NOON - HOUR, transaction: '0xb', ...changes })

  test.each<[string, Transfer[], object[]]>([
    ['is funding', [given(), passed()], FUNDED],
    ['is funding, however little the seller gave', [given({ amount: '1' }), passed()], FUNDED],
    [
      'less than the payment is dust, which anybody can throw',
      [given(), passed({ amount: '9999' })],
      [],
    ],
    ['of nothing is none: anybody can write that', [given({ amount: '0' }), passed()], []],
    ['after the payment is none', [given(), passed({ at: NOON + 1 })], []],
    ['that was passed on before it came is none', [given({ at: NOON - 1 }), passed()], []],
    ['through a contract is nobody’s', [given(), passed({ from_contract: true })], []],
    ['through a wallet that was asked is', [given(), passed({ from_contract: false })], FUNDED],
    ['thirty days ago is', [given({ at: NOON - 30 * DAY_MS }), passed()], FUNDED],
    ['longer ago is not looked for', [given({ at: NOON - 30 * DAY_MS - 1 }), passed()], []],
    [
      'through two wallets is not seen',
      [given(), passed({ to: wallet(6002) }), aTransfer({ from: wallet(6002), to: buyer })],
      [],
    ],
    [
      'all in the second of the payment is seen where blocks give an order',
      [given({ at: NOON, block: 100, log: 3 }), passed({ at: NOON, block: 100, log: 4 })],
      FUNDED,
    ],
    [
      'in a later log of the payment’s block is none',
      [given({ at: NOON, block: 100, log: 3 }), passed({ at: NOON, block: 100, log: 6 })],
      [],
    ],
    ['of strangers is none', [given({ from: wallet(7) }), passed()], []],
  ])('%s', (_, transfers, flags) => {
    expect(flagsOf(paid, transfers)).toEqual(flags)
  })
})

describe('a refund of last month', () => {
  const buyer = wallet(7000)
  const paid = (daysAgo: number, amount = '10000') =>
    aSettlement({ payer: buyer, at: NOON - daysAgo * DAY_MS, amount, usd: Number(amount) / 1e6 })
  const back = (daysAgo: number, amount: string) =>
    aTransfer({ to: buyer, at: NOON - daysAgo * DAY_MS, amount })

  test('is not what a buyer who comes back was filled with', () => {
    const measured = measureSeller([paid(40), paid(2)], [back(39, '3000')])
    expect(measured).toMatchObject({ settlements_30d: 1, wash_flags: [] })
  })

  test('is held against what it was paid back for', () => {
    const measured = measureSeller([paid(60, '5000000'), paid(40), paid(2)], [back(59, '3000000')])
    expect(measured).toMatchObject({ settlements_30d: 1, wash_flags: [] })
  })

  test('does not make a wallet clean that the seller fills month after month', () => {
    const filled = [50, 20].flatMap((day) => [back(day + 1, '10000'), back(day - 1, '10000')])
    const measured = measureSeller([paid(50), paid(20)], filled)
    expect(measured?.wash_flags).toEqual([{ flag: 'funded_by_payout', settlements: 1 }])
  })
})

describe('a burst of same-amount first-time payers', () => {
  const burst = (count: number, gap: (n: number) => number) => {
    let at = NOON - DAY_MS
    return Array.from({ length: count }, (_, n) => {
      at += gap(n)
      return aSettlement({ at, amount: '20000' })
    })
  }
  const irregular = (n: number) => (n % 3 === 0 ? 3 * MINUTE : n % 3 === 1 ? 10_000 : 70_000)
  const regulars = honest(12)
  const flagsAmong = (
    cohort: Settlement[],
    { transfers = [], others = [] }: { transfers?: Transfer[]; others?: Settlement[] },
  ) => {
    const wallets = new Set(others.map(({ payer }) => payer))
    const around = known(transfers, { hasPaidOthers: (wallet) => wallets.has(wallet) })
    return excludeWash([...cohort, ...regulars], around).flags
  }

  test.each([
    [9, []],
    [10, [{ flag: 'burst_cohort', settlements: 10 }]],
  ])('%i wallets that never paid anyone else: %j', (count, flags) => {
    expect(flagsAmong(burst(count, irregular), {})).toEqual(flags)
  })

  test('after a month of sales is one all the same', () => {
    const before = burst(30, () => 10 * MINUTE).map((one) => ({ ...one, at: one.at - 30 * DAY_MS }))
    const windowOf = (at: number) => Math.floor((NOON - at) / (30 * DAY_MS))
    expect(
      excludeWash([...before, ...burst(12, irregular)], known([], { windowOf })).flags,
    ).toEqual([{ flag: 'burst_cohort', settlements: 12 }])
  })

  test('spread over hours is none', () => {
    expect(
      flagsAmong(
        burst(20, () => 10 * MINUTE),
        {},
      ),
    ).toEqual([])
  })

  test('alone is not proof: one of them who pays others too makes it a crowd', () => {
    const cohort = burst(12, irregular)
    expect(flagsAmong(cohort, { others: cohort.slice(3, 4) })).toEqual([])
  })

  test('half of whom one wallet had funded is one hand, whatever else they paid', () => {
    const cohort = burst(12, irregular)
    const funded = cohort.map(({ payer }, n) =>
      aTransfer({ from: wallet(1), to: payer, transaction: `0x${n}`, amount: '20000' }),
    )
    const flags = [{ flag: 'burst_cohort', settlements: 6 }]
    expect(flagsAmong(cohort, { transfers: funded.slice(0, 6), others: cohort })).toEqual(flags)
    expect(flagsAmong(cohort, { transfers: funded.slice(0, 5), others: cohort })).toEqual([])
    const later = funded.map((transfer) => ({ ...transfer, at: NOON }))
    expect(flagsAmong(cohort, { transfers: later, others: cohort })).toEqual([])
  })

  test.each([
    // CCTP mints at the buyer's wallet what was burnt on another chain.
    ['a mint', { from: `0x${'0'.repeat(40)}`, from_contract: false }, 0],
    ['a bridge', { from: wallet(1), from_contract: true }, 0],
    ['an exchange', { from: wallet(1), from_contract: false }, 30],
  ])(
    'filled by %s: that is nobody’s hand, and wallets that never paid anyone else are one all the same',
    (_, giver, others) => {
      const cohort = burst(12, irregular)
      const give = (to: string, n: number) =>
        aTransfer({ ...giver, to, at: NOON - DAY_MS - n * 60_000, amount: '20000' })
      const filled = cohort.map(({ payer }, n) => give(payer, n))
      const elsewhere = Array.from({ length: others }, (__, n) => give(wallet(7000 + n), n))
      const transfers = [...filled, ...elsewhere]
      expect(flagsAmong(cohort, { transfers })).toEqual([{ flag: 'burst_cohort', settlements: 12 }])
      expect(flagsAmong(cohort, { transfers, others: cohort.slice(0, 1) })).toEqual([])
    },
  )
})

describe('a crowd that a rival sends', () => {
  const HOUR_MS = 60 * MINUTE
  const price = '20000'
  const buyers = Array.from({ length: 8 }, (_, n) =>
    aSettlement({ at: NOON - 9 * DAY_MS + n * 20 * HOUR_MS, amount: price }),
  )
  const crowd = Array.from({ length: 40 }, (_, n) =>
    aSettlement({ at: NOON - DAY_MS + n * 10_000, amount: price }),
  )
  const fills = crowd.map(({ payer }, n) =>
    aTransfer({
      from: wallet(1),
      to: payer,
      transaction: `0x${n}`,
      amount: price,
      at: NOON - 2 * DAY_MS,
    }),
  )

  test.each([
    ['filled from one wallet, that paid others too', fills, true],
    ['of wallets that never paid anyone else', [], false],
  ])('%s takes no real buyer with it', (_, transfers, hasPaidOthers) => {
    const around = known(transfers, { hasPaidOthers: () => hasPaidOthers })
    const { independent, flags } = excludeWash([...buyers, ...crowd], around)
    expect(independent).toEqual(buyers)
    expect(flags).toEqual([{ flag: 'burst_cohort', settlements: crowd.length }])
  })
})

test('a crowd filled from one wallet, in the half hour of a launch, takes no real buyer with it', () => {
  const first = (n: number) => aSettlement({ at: NOON - DAY_MS + n * 10_000, amount: '20000' })
  const [buyers, crowd] = [8, 40].map((count) => Array.from({ length: count }, (_, n) => first(n)))
  const fills = (crowd ?? []).map(({ payer }, n) =>
    aTransfer({
      from: wallet(1),
      to: payer,
      transaction: `0x${n}`,
      amount: '20000',
      at: NOON - 2 * DAY_MS,
    }),
  )
  const isBuyer = new Set(buyers?.map(({ payer }) => payer))
  const around = known(fills, { hasPaidOthers: (payer) => isBuyer.has(payer) })
  const all = [...(buyers ?? []), ...(crowd ?? [])]
  expect(excludeWash(all, around).independent).toEqual(buyers)
})

describe('as evidence', () => {
  const asOf = windowEnd(NOON)
  const measure = measureSeller

  test('the window is thirty days, and its last moment belongs to it', () => {
    expect(measure([aSettlement({ at: asOf - 30 * DAY_MS })])?.settlements_30d).toBe(0)
    expect(measure([aSettlement({ at: asOf })])?.settlements_30d).toBe(1)
    expect(measure([aSettlement({ at: asOf + 1 })])?.settlements_30d).toBe(0)
    expect(measure([aSettlement({ at: asOf - 30 * DAY_MS + 1 })])?.settlements_30d).toBe(1)
  })

  test('aggregates', () => {
    const one = wallet(1)
    const measured = measure([
      aSettlement({ payer: one, usd: 0.3, at: NOON - DAY_MS }),
      aSettlement({ payer: one, usd: 0.1, at: NOON }),
      aSettlement({ payer: wallet(2), usd: 0.1, at: NOON - 2 * DAY_MS }),
      aSettlement({ payer: PAYOUT, usd: 99, at: NOON }),
    ])
    expect(measured).toEqual({
      source: 'service_verified',
      as_of: '2026-11-20T23:59:59.999Z',
      verified_buyers_30d: 2,
      settlements_30d: 3,
      volume_usd_30d: 0.5,
      top_buyer_share_30d: 0.8,
      last_settlement_at: '2026-11-20T12:00:00.000Z',
      shared_payout: false,
      paid_by: ['eip3009'],
      wash_flags: [{ flag: 'self_payment', settlements: 1 }],
      watch: [],
      raw: { payers: 3, settlements: 4, volume_usd: 99.5 },
      days: [
        { date: '2026-11-18', settlements: 1, volume_usd: 0.1, buyers: 1 },
        { date: '2026-11-19', settlements: 1, volume_usd: 0.3, buyers: 1 },
        { date: '2026-11-20', settlements: 1, volume_usd: 0.1, buyers: 1 },
      ],
    })
  })

  longTest('a busy listing has as many payers as it has', () => {
    const crowd = Array.from({ length: 150_000 }, (_, n) =>
      aSettlement({ payer: wallet(n), at: NOON - n * 10_000, usd: 0.01 }),
    )
    expect(measure(crowd)?.raw).toEqual({ payers: 150_000, settlements: 150_000, volume_usd: 1500 })
  })

  test('days reach back ninety days and end with today; totals are the window’s alone', () => {
    const at = (days: number) => aSettlement({ at: NOON - days * DAY_MS, payer: wallet(days) })
    const measured = measure([at(1), at(29), at(30), at(89), at(90)])
    expect(measured?.settlements_30d).toBe(2)
    expect(measured?.days?.map(({ date }) => date)).toEqual([
      '2026-08-23',
      '2026-10-21',
      '2026-10-22',
      '2026-11-19',
      '2026-11-20',
    ])
    expect(v.is(MeasuredSchema, measured)).toBe(true)
  })

  test('where the meter reads, nothing paid is an answer', () => {
    const nothing = measure([])
    expect(nothing).toMatchObject({ settlements_30d: 0, last_settlement_at: null, wash_flags: [] })
    expect(judgeTrust(nothing, 1, '2026-11-20').evidence).toBe('no_independent_paid_usage_30d')
  })

  test('of wash alone is not independent usage', () => {
    const trust = judgeTrust(measure([aSettlement({ payer: PAYOUT })]), 1, '2026-11-20')
    expect(trust).toMatchObject({
      evidence: 'no_independent_paid_usage_30d',
      measured: { wash_flags: [{ flag: 'self_payment', settlements: 1 }] },
    })
  })

  test('two builds of one day see the same window', () => {
    expect(windowEnd(Date.UTC(2026, 10, 20))).toBe(Date.UTC(2026, 10, 21) - 1)
    expect(windowEnd(Date.UTC(2026, 10, 21) - 1)).toBe(Date.UTC(2026, 10, 21) - 1)
  })
})
