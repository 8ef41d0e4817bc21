import { expect, test } from 'vitest'
import { findNearestName } from '../../src/domain/wire/text.ts'

const KNOWN = ['name', 'kind', 'categories', 'pricing', 'first_party']

test.each([
  ['catagories', 'categories'],
  ['Categories', 'categories'],
  ['category', 'categories'],
  ['nmae', 'name'],
  ['firstparty', 'first_party'],
  ['first-party', 'first_party'],
  ['price', 'pricing'],
  ['cat', 'categories'],
  ['names', 'name'],
  ['pay', null],
  ['p'.repeat(100), null],
  ['x', null],
  ['trust', null],
  ['', null],
])('%s is meant to be %s', (name, nearest) => {
  expect(findNearestName(name, KNOWN)).toBe(nearest)
})

test('of two as near as each other the first is offered', () => {
  expect(findNearestName('kin', ['kind', 'king'])).toBe('kind')
})
