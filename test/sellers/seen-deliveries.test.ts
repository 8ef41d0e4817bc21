import { expect, test } from 'vitest'
import { toDeliveriesPanel } from '../../src/components/sellers/owned-listing.ts'
import type { ListingNumbers } from '../../src/domain/views/seller-pages.ts'

const ID = 'r'.repeat(22)

function aDelivery(
  changes: Partial<ListingNumbers['deliveries'][number]>,
): ListingNumbers['deliveries'][number] {
  return {
    ...{ id: ID, at: '2026-11-22T09:20:13.000Z', operation: 'digest', status: 200 },
    ...{ verdict: 'as_declared', reason: 'It is as declared.', transaction: null, ms: 9 },
    ...{ call: 'GET https://seller.example/' },
    ...changes,
  }
}

function show(deliveries: ListingNumbers['deliveries']): string {
  const none = { clicks: 0, calls: 0, search_impressions: 0 }
  const clicks = { total: 0, by_day: [], by_src: {} }
  const numbers = { listing_id: 'x402.seller', calls: 0, last_30_days: none, clicks, deliveries }
  return toDeliveriesPanel(numbers).text
}

test('a seller sees each verdict with its reason, its receipt and where to dispute it', () => {
  const reason = 'At <b>: expected a member price.'
  const text = show([aDelivery({}), aDelivery({ verdict: 'other_shape', reason })])
  expect(text).toContain('Of the last 2 paid calls, 1 was not answered as declared.')
  expect(text).toContain(`/api/v1/receipts/${ID}`)
  const words = text.replace(/<[^>]+>/g, '')
  expect(words).toContain(
    'shape than declared. At &lt;b&gt;: expected a member price. Dispute this',
  )
  expect(text.split(`/report?kind=dispute&amp;about=${ID}`)).toHaveLength(2)
})

test('what a person took back needs no dispute', () => {
  const text = show([aDelivery({ verdict: 'empty', dispute: 'accepted' })])
  expect(text).toContain('it does not count')
  expect(text).not.toContain('/report?')
})

test.each(['waiting', 'refused'] as const)(
  'a stranger’s dispute that is %s takes no seller’s own away',
  (dispute) => {
    const text = show([aDelivery({ verdict: 'empty', dispute })])
    expect(text).toMatch(/Disputed; .*Dispute this verdict/s)
  },
)

test('nothing is said where nothing was judged', () => {
  expect(show([])).toContain('No paid call through the relay was judged yet.')
})
