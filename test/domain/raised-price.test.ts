import { expect, test } from 'vitest'
import type { Pricing } from '../../src/domain/listing/pricing.ts'
import { toRaisedPrice } from '../../src/domain/views/known-view.ts'
import { toListingBrief } from '../../src/domain/views/listing-view.ts'
import { toListing } from './listing-samples.ts'

const PRICING: Pricing = {
  ...{ model: 'per_call', min_usd: 0.003, max_usd: 0.01 },
  ...{ rails: ['x402'], networks: ['eip155:8453'] },
}
const change = (name: string, is: string) =>
  ({ at: '2026-11-27T20:00:00Z', what: 'price', name, was: '$0.01', is, of: 'look' }) as const
const rangeOf = (drift: ReturnType<typeof change>[], operations = 2) =>
  toRaisedPrice({
    pricing: PRICING,
    operations: Array.from({ length: operations }),
    drift,
  })

test.each([
  ['no change', [], null],
  ['a price within the range', [change('GET /a', '$0.005')], null],
  ['a price above the range', [change('GET /a', '$0.02')], { least: 0.003, most: 0.02 }],
  [
    'a later change of another operation, which got cheaper',
    [change('GET /b', '$0.001'), change('GET /a', '$0.02')],
    { least: 0.003, most: 0.02 },
  ],
  ['a price that came back', [change('GET /a', '$0.01'), change('GET /a', '$0.02')], null],
])('the range of prices after %s', (_, drift, range) => {
  expect(rangeOf(drift)).toEqual(range)
})

test('a single operation has the price that a probe saw last', () => {
  expect(rangeOf([change('GET /a', '$0.02')], 1)).toEqual({ least: 0.02, most: 0.02 })
})

test('rows of lists show the range that probes saw', () => {
  const drift = [change('GET /a', '$0.02')]
  const http = ['a', 'b'].map((path) => ({ method: 'GET', url: `https://shop.example/${path}` }))
  const listing = toListing({ facts: { pricing: PRICING, http }, evidence: { drift } })
  expect(toListingBrief(listing, new Map()).pricing).toEqual({ ...PRICING, max_usd: 0.02 })
})
