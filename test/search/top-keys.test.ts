import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createTopKeys } from '../../src/search/query/rank-rows.ts'
import { drawsOf } from '../support/long.ts'

test('the page is the one a full sort would give, whatever its size', () => {
  const keys = fc.uniqueArray(fc.integer(), { maxLength: 2000 })
  fc.assert(
    fc.property(keys, fc.nat({ max: 950 }), (all, size) => {
      const top = createTopKeys(size)
      for (const key of all) top.offer(key)
      const sorted = all.toSorted((a, b) => b - a)
      expect([...top.take()]).toEqual(sorted.slice(0, size))
    }),
    { numRuns: drawsOf(500) },
  )
})
