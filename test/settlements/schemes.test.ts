import { expect, test } from 'vitest'
import { listUncounted, SCHEMES } from '../../src/domain/settlement/schemes/schemes.ts'

test('each way of paying has one row, and a reason people can read', () => {
  const ids = SCHEMES.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { name, reason } of SCHEMES) {
    expect(name.length).toBeLessThanOrEqual(80)
    expect(reason).toMatch(/^[A-Z].*\.$/)
  }
})

test('what is not counted is listed as such', () => {
  const listed = listUncounted().map(({ id }) => id)
  expect(listed).toContain('stripe')
  expect(listed).not.toContain('eip3009')
})
