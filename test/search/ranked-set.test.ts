import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildRankedSet, placeOf } from '../../src/search/numbers/ranked-set.ts'

test('every member is at its place, and every other number at none', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.nat(300)), fc.array(fc.nat(400)), (numbers, others) => {
      const members = numbers.toSorted((a, b) => a - b)
      const set = buildRankedSet(members.flatMap((member) => [member, member]))
      for (const number of [...members, ...others, -1, 2 ** 31]) {
        expect(placeOf(set, number)).toBe(members.indexOf(number))
      }
    }),
  )
})
