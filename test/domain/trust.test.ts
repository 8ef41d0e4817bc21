import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { judgeTrust, scoreTrust, type TrustInput } from '../../src/domain/trust/trust.ts'
import { drawsOf } from '../support/long.ts'
import { toMeasured } from './listing-samples.ts'

/** Worked by hand from the published formula, not by this code. */
const WORKED: [string, TrustInput, number][] = [
  // base 0.6·ln13/ln101 + 0.25·ln341/ln1001 + 0.15·ln13.5/ln1001 = 0.6010; × 0.8 × 1 × 12/15
  ['a dozen buyers, one with 40 %', sale(12, 340, 12.5, 0.4, 0.125), 38],
  ['the same on a payout that two share', { ...sale(12, 340, 12.5, 0.4, 0.125), sharers: 2 }, 36],
  // base 1; × 100/103
  ['everything full', sale(100, 1000, 1000, 0, 0), 97],
  ['everything far beyond full', sale(1e6, 1e9, 1e9, 0, 0), 100],
  ['full, all by one buyer, at the end of the window', sale(100, 1000, 1000, 1, 30), 24],
  ['full, half way down from a week to the window', sale(100, 1000, 1000, 0, 18.5), 73],
  ['one cent from one buyer', sale(1, 1, 0.01, 1, 0), 1],
  ['exactly the gate: 3 buyers and 5 settlements', sale(3, 5, 1, 1 / 3, 0), 11],
  ['a week old', sale(50, 200, 40, 0.1, 7), 70],
  ['thirty days old', sale(50, 200, 40, 0.1, 30), 35],
]

const anySale = fc.record({
  buyers: fc.integer({ min: 1, max: 5000 }),
  settlements: fc.integer({ min: 1, max: 50_000 }),
  volumeUsd: fc.double({ min: 0, max: 1e6, noNaN: true }),
  topBuyerShare: fc.double({ min: 0, max: 1, noNaN: true }),
  daysSinceLast: fc.double({ min: 0, max: 30, noNaN: true }),
  sharers: fc.integer({ min: 1, max: 50 }),
})
const anyShare = fc.double({ min: 0, max: 1, noNaN: true })
const anyDays = fc.double({ min: 0, max: 60, noNaN: true })

describe('the score', () => {
  test.each(WORKED)('%s', (_, input, score) => {
    expect(scoreTrust(input)).toBe(score)
  })

  test('is a whole number from 0 to 100', () => {
    holds(anySale, (sale) => {
      const score = scoreTrust(sale)
      return Number.isInteger(score) && score >= 0 && score <= 100
    })
  })

  test('never falls with one more independent buyer', () => {
    holds(anySale, (sale) => {
      const more = { ...sale, buyers: sale.buyers + 1 }
      return scoreTrust(more) >= scoreTrust(sale)
    })
  })

  test('never falls with that buyer’s own settlement, volume and smaller shares counted too', () => {
    holds(fc.tuple(anySale, fc.double({ min: 0, max: 100, noNaN: true })), ([sale, paid]) => {
      const shrunk = sale.topBuyerShare * (sale.settlements / (sale.settlements + 1))
      const more = {
        ...sale,
        buyers: sale.buyers + 1,
        settlements: sale.settlements + 1,
        volumeUsd: sale.volumeUsd + paid,
        topBuyerShare: shrunk,
        daysSinceLast: 0,
      }
      return scoreTrust(more) >= scoreTrust(sale)
    })
  })

  test('never rises with a larger share of the largest buyer', () => {
    holds(fc.tuple(anySale, anyShare, anyShare), ([sale, a, b]) => {
      const [less, more] = [Math.min(a, b), Math.max(a, b)]
      return (
        scoreTrust({ ...sale, topBuyerShare: more }) <= scoreTrust({ ...sale, topBuyerShare: less })
      )
    })
  })

  test('never rises with more listings on the same payout', () => {
    holds(anySale, (sale) => scoreTrust({ ...sale, sharers: sale.sharers + 1 }) <= scoreTrust(sale))
  })

  test('never rises as the last settlement grows older', () => {
    holds(fc.tuple(anySale, anyDays, anyDays), ([sale, a, b]) => {
      const [newer, older] = [Math.min(a, b), Math.max(a, b)]
      return (
        scoreTrust({ ...sale, daysSinceLast: older }) <=
        scoreTrust({ ...sale, daysSinceLast: newer })
      )
    })
  })
})

describe('the verdict on evidence', () => {
  test('nothing measured is no data, which is not a mark against the seller', () => {
    expect(judgeTrust(undefined, 1, '2026-11-01')).toEqual({ evidence: 'no_payment_data' })
  })

  test.each([
    ['no buyer', { verified_buyers_30d: 0 }],
    ['no settlement', { settlements_30d: 0 }],
    ['no settlement that has a time', { last_settlement_at: null }],
    [
      'a last settlement a second before the window',
      { last_settlement_at: '2026-10-01T23:59:59Z' },
    ],
  ])('%s is not independent paid usage', (_, changes) => {
    const measured = toMeasured(changes)
    expect(judgeTrust(measured, 1, '2026-11-01')).toEqual({
      evidence: 'no_independent_paid_usage_30d',
      measured,
    })
  })

  test('a settlement exactly as old as the window still counts', () => {
    const measured = toMeasured({ last_settlement_at: '2026-10-02T00:00:00Z' })
    expect(judgeTrust(measured, 1, '2026-11-01')).toMatchObject({
      evidence: 'verified_non_wash_payments',
    })
  })

  test('an independent sale gives the score of the formula', () => {
    const measured = toMeasured()
    expect(judgeTrust(measured, 1, '2026-11-01')).toEqual({
      evidence: 'verified_non_wash_payments',
      score: 38,
      sample: null,
      isVouched: false,
      input: expect.objectContaining({ buyers: 12, settlements: 340, sharers: 1 }),
      measured,
    })
  })

  test.each([
    ['2 buyers', 2, 340, 'low'],
    ['4 settlements', 12, 4, 'low'],
    ['exactly 3 buyers and 5 settlements', 3, 5, null],
  ])('the sample of %s is marked', (_, verified_buyers_30d, settlements_30d, sample) => {
    const verdict = judgeTrust(
      toMeasured({ verified_buyers_30d, settlements_30d }),
      1,
      '2026-11-01',
    )
    expect(verdict).toMatchObject({ sample })
  })

  test('a payout the provider calls shared counts for at least two listings', () => {
    const scoreOf = (shared_payout: boolean, sharers: number) =>
      judgeTrust(toMeasured({ shared_payout }), sharers, '2026-11-01')
    expect(scoreOf(true, 1)).toMatchObject({ score: 36 })
    expect(scoreOf(true, 1)).toMatchObject({ measured: { settlements_30d: 340 } })
    expect(scoreOf(false, 2)).toMatchObject({ score: 36 })
    expect(scoreOf(true, 40)).toMatchObject({ score: 27 })
  })

  test.each([
    [false, 1, false],
    [false, 2, true],
    [true, 1, true],
  ])('shared_payout says what the score used: provider %s, sharers %i', (given, sharers, shown) => {
    const verdict = judgeTrust(toMeasured({ shared_payout: given }), sharers, '2026-11-01')
    expect(verdict).toMatchObject({ measured: { shared_payout: shown } })
  })

  test('what was excluded changes nothing but the flags', () => {
    const anyFlags = fc.array(
      fc.record({ flag: fc.constantFrom('burst', 'round_trip'), settlements: fc.nat() }),
    )
    const anyWatch = fc.array(fc.record({ id: fc.constant('new_seller'), note: fc.string() }))
    holds(fc.tuple(anyFlags, anyWatch, fc.nat(20), fc.nat(20)), ([wash_flags, watch, b, n]) => {
      const clean = toMeasured({ verified_buyers_30d: b, settlements_30d: n })
      const flagged = judgeTrust({ ...clean, wash_flags, watch }, 1, '2026-11-01')
      const verdict = judgeTrust(clean, 1, '2026-11-01')
      expect({ ...flagged, measured: null }).toEqual({ ...verdict, measured: null })
      return true
    })
  })
})

function sale(
  buyers: number,
  settlements: number,
  volumeUsd: number,
  topBuyerShare: number,
  daysSinceLast: number,
): TrustInput {
  return { buyers, settlements, volumeUsd, topBuyerShare, daysSinceLast, sharers: 1 }
}

function holds<Value>(values: fc.Arbitrary<Value>, rule: (value: Value) => boolean): void {
  fc.assert(fc.property(values, rule), { numRuns: drawsOf(500) })
}
