import { expect, test } from 'vitest'
import { createPairNumbers } from '../../src/search/numbers/pair-numbers.ts'

test('each pair has a number of its own, in the order they came, however many there are', () => {
  const pairs = createPairNumbers()
  const given = Array.from({ length: 40_000 }, (_, at) => [at % 211, at % 1009] as const)
  const seen = new Map<string, number>()
  for (const [left, right] of [...given, ...given]) {
    const key = `${left} ${right}`
    const expected = seen.get(key) ?? seen.size
    seen.set(key, expected)
    expect(pairs.numberOf(left, right)).toBe(expected)
  }
  const told = new Map<string, number>()
  pairs.forEach((left, right, number) => {
    told.set(`${left} ${right}`, number)
  })
  expect(told.size).toBe(40_000)
  expect(told).toEqual(seen)
})

test('the other way round is another pair, and 0 is a number like any other', () => {
  const pairs = createPairNumbers()
  expect([pairs.numberOf(0, 0), pairs.numberOf(0, 1), pairs.numberOf(1, 0)]).toEqual([0, 1, 2])
  expect(pairs.numberOf(0, 0)).toBe(0)
})
