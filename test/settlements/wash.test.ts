import { describe, expect, test } from 'vitest'
import type { Settlement, Transfer } from '../../src/domain/settlement/settlement.ts'
import { toMeasured, windowEnd } from '../../src/domain/trust/measured-settlements.ts'
import { judgeTrust } from '../../src/domain/trust/trust.ts'
import { excludeWash } from '../../src/domain/wash/wash.ts'
import { aSettlement, DAY_MS, NETWORK, NOON, PAYOUT, wallet } from './samples.ts'

const MINUTE = 60_000
const OWN = [PAYOUT]

const transfer = (changes: Partial<Transfer>): Transfer => ({
  network: NETWORK,
  transaction: '0x1',
  log_index: 0,
  from: PAYOUT,
  to: wallet(0),
  amount: '10000',
  at: NOON - DAY_MS,
  ...changes,
})

const flagsOf = (settlements: Settlement[], transfers: Transfer[] = []) =>
  excludeWash(settlements, OWN, transfers).flags

/** Buyers nobody could object to: different times, amounts and days. */
const honest = (count: number) =>
  Array.from({ length: count }, (_, n) =>
    aSettlement({ at: NOON - n * 7 * 3_600_000, amount: String(10_000 + n * 17), usd: 0.01 }),
  )

describe('self payment', () => {
  test.each([PAYOUT, PAYOUT.toUpperCase().replace('0X', '0x')])('from %s is excluded', (payer) => {
    const result = excludeWash([aSettlement({ payer }), ...honest(2)], OWN, [])
    expect(result.flags).toEqual([{ flag: 'self_payment', settlements: 1 }])
    expect(result.independent).toHaveLength(2)
  })

  test('from another wallet of the seller’s is excluded', () => {
    const result = excludeWash([aSettlement({ payer: wallet(9) })], [PAYOUT, wallet(9)], [])
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
    expect(flagsOf(paid, [transfer({ to: buyer, at: NOON - 1, amount: '1' })])).toEqual([
      { flag: 'funded_by_payout', settlements: 2 },
    ])
  })

  test('after it is a refund, unless most comes back', () => {
    const back = (amount: string) => flagsOf(paid, [transfer({ to: buyer, at: NOON + 2, amount })])
    expect(back('16999')).toEqual([])
    expect(back('17000')).toEqual([{ flag: 'round_trip', settlements: 2 }])
  })

  test('in the second of the payment has no order, so it is a return and not funding', () => {
    const sameSecond = (changes: Partial<Transfer>) =>
      flagsOf(paid, [transfer({ to: buyer, at: NOON, ...changes })])
    expect(sameSecond({ amount: '17000' })).toEqual([{ flag: 'round_trip', settlements: 2 }])
    expect(sameSecond({ amount: '1' })).toEqual([])
  })

  test('in the transaction of the payment is ordered by its logs', () => {
    const [{ transaction = '' } = {}] = paid
    const within = (log_index: number) =>
      flagsOf(paid, [transfer({ to: buyer, at: NOON, amount: '1', transaction, log_index })])
    expect(within(0)).toEqual([{ flag: 'funded_by_payout', settlements: 2 }])
    expect(within(2)).toEqual([])
  })

  test('to others changes nothing', () => {
    expect(
      flagsOf(paid, [transfer({ to: wallet(7) }), transfer({ from: wallet(8), to: buyer })]),
    ).toEqual([])
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
  const regulars = honest(12).flatMap((one) => [
    one,
    aSettlement({ payer: one.payer, at: one.at + 1 }),
  ])

  test.each([
    [9, []],
    [10, [{ flag: 'burst_cohort', settlements: 10 }]],
  ])('%i wallets at even gaps: %j', (count, flags) => {
    expect(flagsOf([...burst(count, () => 2 * MINUTE), ...regulars])).toEqual(flags)
  })

  test('spread over hours is none', () => {
    expect(flagsOf([...burst(20, () => 10 * MINUTE), ...regulars])).toEqual([])
  })

  test('alone is no proof: a second sign is needed', () => {
    expect(flagsOf([...burst(12, irregular), ...regulars])).toEqual([])
  })

  test('whose wallets were funded by one address', () => {
    const cohort = burst(12, irregular)
    const funded = cohort.map(({ payer }, n) =>
      transfer({ from: wallet(1), to: payer, transaction: `0x${n}` }),
    )
    expect(flagsOf([...cohort, ...regulars], funded)).toEqual([
      { flag: 'burst_cohort', settlements: 12 },
    ])
    expect(flagsOf([...cohort, ...regulars], funded.slice(0, 8))).toEqual([])
  })

  test('who are all the buyers there are, and never come back', () => {
    expect(flagsOf(burst(12, irregular))).toEqual([{ flag: 'burst_cohort', settlements: 12 }])
    expect(flagsOf([...burst(12, irregular), ...honest(2)])).toEqual([])
  })
})

describe('as evidence', () => {
  const asOf = windowEnd(NOON)
  const measure = (settlements: Settlement[], transfers: Transfer[] = []) =>
    toMeasured(settlements, { wallets: OWN, transfers, asOf })

  test('no settlement, no evidence', () => {
    expect(measure([])).toBeUndefined()
    expect(measure([aSettlement({ at: asOf - 30 * DAY_MS })])).toBeUndefined()
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
      wash_flags: [{ flag: 'self_payment', settlements: 1 }],
      watch: [],
      raw: { payers: 3, settlements: 4, volume_usd: 99.5 },
    })
  })

  test('of wash alone is no independent usage', () => {
    const trust = judgeTrust(measure([aSettlement({ payer: PAYOUT })]), 1)
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
