import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { judgeTrust } from '../../src/domain/trust/trust.ts'
import {
  TrustSchema,
  TrustSummarySchema,
  toTrustSummary,
  toTrustView,
  toWorth,
} from '../../src/domain/views/trust-view.ts'
import { toMeasured } from './listing-samples.ts'

const FLAGS = [{ flag: 'burst', settlements: 11 }]
const WATCH = [{ id: 'new_seller', note: 'First seen last week.' }]
const measured = toMeasured({ wash_flags: FLAGS, watch: WATCH })
const sold = judgeTrust(measured, 1, '2026-11-01')
const lowSample = judgeTrust({ ...measured, verified_buyers_30d: 2 }, 1, '2026-11-01')
const unsold = judgeTrust({ ...measured, verified_buyers_30d: 0 }, 1, '2026-11-01')
const unknown = judgeTrust(undefined, 1, '2026-11-01')

const SUMMARY = ['score', 'evidence', 'verified_buyers_30d', 'settlements_30d', 'wash_flags']
const FULL = [
  'volume_usd_30d',
  'top_buyer_share_30d',
  'last_settlement_at',
  'shared_payout',
  'as_of',
  'method',
  'source',
]

describe('the fields on the wire follow the evidence', () => {
  test.each([
    ['verified payments', sold, [...SUMMARY, 'watch']],
    ['verified payments of a small sample', lowSample, [...SUMMARY, 'watch', 'sample']],
    ['no independent usage', unsold, SUMMARY],
    ['no data', unknown, ['score', 'evidence']],
  ])('in a search result, %s', (_, verdict, fields) => {
    expect(Object.keys(toTrustSummary(verdict)).sort()).toEqual(fields.toSorted())
  })

  test.each([
    ['verified payments', sold, [...SUMMARY, 'watch', ...FULL]],
    ['verified payments of a small sample', lowSample, [...SUMMARY, 'watch', 'sample', ...FULL]],
    ['no independent usage', unsold, [...SUMMARY, ...FULL]],
    ['no data', unknown, ['score', 'evidence', 'method']],
  ])('in the full listing, %s', (_, verdict, fields) => {
    expect(Object.keys(toTrustView(verdict, 'Data by X')).sort()).toEqual(fields.toSorted())
  })

  test('the numbers are those that were measured', () => {
    expect(toTrustView(sold, 'Data by X')).toEqual({
      score: 38,
      evidence: 'verified_non_wash_payments',
      verified_buyers_30d: 12,
      settlements_30d: 340,
      wash_flags: FLAGS,
      watch: [
        ...WATCH,
        { id: 'independence_unmeasured', note: expect.stringContaining('cost under a cent') },
      ],
      volume_usd_30d: 12.5,
      top_buyer_share_30d: 0.4,
      last_settlement_at: '2026-10-31T21:00:00Z',
      shared_payout: false,
      as_of: '2026-11-01T00:00:00Z',
      method: 'hub-trust-v0.1',
      source: 'Data by X',
    })
  })

  test('where buyers are vouched for, the unknown ones and the cost of inventing stand beside the score', () => {
    const vouched = judgeTrust(toMeasured({ watch: [], unknown_buyers_30d: 3 }), 1, '2026-11-01')
    const summary = toTrustSummary(vouched)
    expect(summary).toMatchObject({ unknown_buyers_30d: 3, cost_to_fake_usd: 3.12, watch: [] })
    if (summary.evidence !== 'verified_non_wash_payments') throw new Error('it has no score')
    expect(toWorth(summary)).toBe(
      'These 12 buyers also paid sellers we know to be independent. We know nothing about 3 more buyers. Inventing the 12 would have cost $3.12.',
    )
    const bare = toTrustSummary(sold)
    expect(bare).not.toHaveProperty('cost_to_fake_usd')
    if (bare.evidence !== 'verified_non_wash_payments') throw new Error('it has no score')
    expect(toWorth(bare)).toContain('invented ones, which cost under a cent')
  })

  test('every view is what its schema, and so the API document, describes', () => {
    for (const verdict of [sold, lowSample, unsold, unknown]) {
      const summary = toTrustSummary(verdict)
      expect(v.parse(TrustSummarySchema, summary)).toEqual(summary)
      const view = toTrustView(verdict, 'Data by X')
      expect(v.parse(TrustSchema, view)).toEqual(view)
    }
  })
})
