import fc from 'fast-check'
import { expect, test } from 'vitest'
import { buildHashTable, findNumber } from '../../src/search/numbers/hash-table.ts'

const hash = fc.oneof(
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  // Close together and at both ends, so that searches collide and run over the end of the table.
  fc.constantFrom(0, 1, 2, 2 ** 31, 2 ** 32 - 3, 2 ** 32 - 2, 2 ** 32 - 1),
)

test('every number is found under its hash, and none under another', () => {
  fc.assert(
    fc.property(
      fc.array(hash, { maxLength: 200 }),
      hash,
      fc.constantFrom(1, 1.25, 2),
      (hashes, other, slotsPerNumber) => {
        const numbers = [...hashes.keys()]
        const hashOf = (number: number) => hashes[number] ?? 0
        const table = buildHashTable(numbers, hashOf, { limit: hashes.length, slotsPerNumber })
        for (const number of numbers) {
          expect(findNumber(table, hashOf(number), (found) => found === number)).toBe(number)
        }
        const expected = hashes.indexOf(other)
        expect(findNumber(table, other, (found) => hashOf(found) === other)).toBe(expected)
      },
    ),
  )
})

test('an empty table holds nothing', () => {
  const table = buildHashTable([], () => 0, { limit: 0, slotsPerNumber: 1.5 })
  expect(findNumber(table, 7, () => true)).toBe(-1)
})
