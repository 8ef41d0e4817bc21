import { describe, expect, test } from 'vitest'
import { splitByAge } from '../../src/domain/trust/age.ts'
import type { Evidence } from '../../src/domain/trust/evidence.ts'
import { AGE_LIMITS, judgeTrust } from '../../src/domain/trust/trust.ts'
import { toMeasured, toProbes } from './listing-samples.ts'

const DAY_MS = 86_400_000
const AT = '2026-07-31T18:00:00Z'

/** So many days after the day of a fact. */
function dayAfter(days: number): string {
  return new Date(Date.parse('2026-07-31') + days * DAY_MS).toISOString().slice(0, 10)
}

describe('a measure of thirty days has a time', () => {
  const measured = toMeasured({ as_of: AT, last_settlement_at: '2026-07-31T12:00:00Z' })

  test.each([
    [0, 'verified_non_wash_payments'],
    [29, 'verified_non_wash_payments'],
    [30, 'verified_non_wash_payments'],
    [31, 'no_payment_data'],
    [118, 'no_payment_data'],
  ])('%i days after it ended the evidence is %s', (days, evidence) => {
    expect(judgeTrust(measured, 1, dayAfter(days)).evidence).toBe(evidence)
  })

  test('recency counts from the day of the build, not from the measure', () => {
    const scores = [0, 6, 10, 20, 30].map((days) => {
      const verdict = judgeTrust(measured, 1, dayAfter(days))
      return verdict.evidence === 'verified_non_wash_payments' ? verdict.score : null
    })
    expect(scores).toEqual([38, 38, 36, 27, 19])
  })

  test('a window without a settlement is none of thirty days of the build either', () => {
    const quiet = toMeasured({ as_of: AT, last_settlement_at: '2026-06-01T00:00:00Z' })
    expect(judgeTrust(quiet, 1, dayAfter(1)).evidence).toBe('no_independent_paid_usage_30d')
  })
})

describe('past its limit of age a fact leaves rows and pages', () => {
  const SEEN = { outcome: 'spoke', min_usd: 0.01, max_usd: 0.01 } as const
  const OPERATION = { method: 'GET', url: 'https://api.weather.example/now' } as const
  const PRICE = { min_usd: 0.01, max_usd: 0.01, per: 'call' } as const
  const FACTS: [fact: keyof typeof AGE_LIMITS, evidence: Evidence][] = [
    ['measured', { measured: toMeasured({ as_of: AT, last_settlement_at: AT }) }],
    ['probes', { probes: toProbes(AT) }],
    ['signals', { signals: { as_of: AT, status: 'online' } }],
    ['drift', { drift: [{ at: AT, what: 'tools', name: 'forecast', of: 'look' }] }],
    [
      'reported_use',
      { reported_use: [{ source: 'cdp_bazaar', what: 'calls', value: 6, as_of: AT }] },
    ],
    ['package_run', { package_run: { at: AT, outcome: 'runs_as_declared' } }],
    [
      'prices',
      { interface: { at: AT, from: 'openapi', operations: [{ ...OPERATION, price: PRICE }] } },
    ],
  ]

  test.each(FACTS)('%s', (fact, evidence) => {
    const limit = AGE_LIMITS[fact]
    for (const days of [0, limit - 1, limit])
      expect(splitByAge(evidence, dayAfter(days))).toEqual({ current: evidence, past: undefined })
    const { current, past } = splitByAge(evidence, dayAfter(limit + 1))
    expect(JSON.stringify(current)).not.toContain('0.01')
    expect(Object.keys(current)).toEqual(fact === 'prices' ? ['interface'] : [])
    const [member, kept] = Object.entries(past ?? {})[0] ?? []
    expect(member).toBe(fact === 'prices' ? 'operations' : fact)
    expect(JSON.stringify(kept)).toContain(AT)
  })

  test('what a probe of an operation saw leaves as probes do, the operation stays', () => {
    const { schemas: _, ...evidence } = {
      schemas: null,
      interface: {
        at: AT,
        from: 'x402' as const,
        operations: [
          { ...OPERATION, price: PRICE, seen: SEEN },
          {
            ...OPERATION,
            method: 'POST' as const,
            seen: { ...SEEN, at: `${dayAfter(9)}T00:00:00Z` },
          },
        ],
      },
    }
    const { current, past } = splitByAge(evidence, dayAfter(AGE_LIMITS.probes + 1))
    expect(current.interface?.operations).toEqual([
      { ...OPERATION, price: PRICE },
      { ...OPERATION, method: 'POST', seen: { ...SEEN, at: `${dayAfter(9)}T00:00:00Z` } },
    ])
    expect(past).toEqual({ operations: [{ at: AT, ...OPERATION, seen: SEEN }] })
  })

  test('a provider’s signals keep the day of the measure that they came with', () => {
    const measured = toMeasured({ as_of: AT, last_settlement_at: AT })
    const evidence = { measured, signals: { status: 'online' } }
    const { current, past } = splitByAge(evidence, dayAfter(AGE_LIMITS.measured + 1))
    expect(current).toEqual({ signals: { status: 'online', as_of: AT } })
    expect(past).toEqual({ measured })
    const later = splitByAge(evidence, dayAfter(AGE_LIMITS.signals + 1))
    expect(later).toEqual({
      current: {},
      past: { measured, signals: { status: 'online', as_of: AT } },
    })
  })
})
