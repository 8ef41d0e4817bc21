import { expect, test } from 'vitest'
import { isDisputable, toDeliveredSummary } from '../../src/components/sellers/owner-words.ts'
import type { ListingNumbers } from '../../src/domain/views/seller-views.ts'

type Delivery = ListingNumbers['deliveries'][number]

function aDelivery(changes: Partial<Delivery>): Delivery {
  return {
    ...{ id: 'r'.repeat(22), at: '2026-11-22T09:20:13.000Z', operation: 'digest', status: 200 },
    ...{ verdict: 'as_declared', reason: 'The answer is as declared.', transaction: null, ms: 9 },
    ...{ call: 'GET https://seller.example/' },
    ...changes,
  }
}

test('a seller reads how many of the judged calls were not as declared', () => {
  expect(toDeliveredSummary([])).toBe('No paid call through the relay has been judged yet.')
  expect(toDeliveredSummary([aDelivery({}), aDelivery({ verdict: 'other_shape' })])).toBe(
    'Of the last 2 paid calls, 1 was not answered as declared.',
  )
})

test.each<[changes: Partial<Delivery>, isDisputable: boolean]>([
  [{}, false],
  [{ verdict: 'empty' }, true],
  // A stranger's dispute takes no seller's own away.
  [{ verdict: 'empty', dispute: 'waiting' }, true],
  [{ verdict: 'empty', dispute: 'refused' }, true],
  // What a person took back needs none.
  [{ verdict: 'empty', dispute: 'accepted' }, false],
])('a delivery with %j can be disputed: %s', (changes, expected) => {
  expect(isDisputable(aDelivery(changes))).toBe(expected)
})
