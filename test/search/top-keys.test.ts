import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTopKeys } from '../../src/search/numbers/top-keys.ts'

test('the page is the one a full sort would give, whatever its size and place', () => {
  const keys = fc.uniqueArray(fc.integer(), { maxLength: 2000 })
  fc.assert(
    fc.property(keys, fc.nat({ max: 900 }), fc.nat({ max: 50 }), (all, offset, limit) => {
      const top = createTopKeys(offset + limit)
      for (const key of all) top.offer(key)
      const sorted = all.toSorted((a, b) => b - a)
      expect([...top.take(offset)]).toEqual(sorted.slice(offset, offset + limit))
    }),
    { numRuns: 500 },
  )
})
