import { expect, test } from 'vitest'
import { isProblemCode, PROBLEM_CODES, PROBLEMS } from '../../src/domain/wire/problems.ts'

/** The closed list of codes; `relay-busy` comes from the relay's own limits. */
const STATUSES: Record<string, number> = {
  'invalid-parameter': 400,
  'invalid-body': 400,
  'malformed-request': 400,
  'token-invalid': 400,
  'not-signed-in': 401,
  'token-required': 401,
  'cross-site': 403,
  'not-found': 404,
  'listing-not-found': 404,
  'claim-not-found': 404,
  'method-not-allowed': 405,
  changed: 409,
  'listing-gone': 410,
  'listing-moved': 308,
  'payload-too-large': 413,
  'uri-too-long': 414,
  'unsupported-media-type': 415,
  'not-relayable': 422,
  'claim-method-unavailable': 422,
  'rate-limited': 429,
  'receipt-not-found': 404,
  internal: 500,
  'not-implemented': 501,
  'seller-unreachable': 502,
  'seller-redirected': 502,
  'seller-refused': 502,
  'reports-full': 503,
  'mail-unavailable': 503,
  'store-unavailable': 503,
  'relay-busy': 503,
  'seller-timeout': 504,
  'relay-loop': 508,
}

test('every problem of the list has its status, and there is no other', () => {
  const actual = Object.entries(PROBLEMS).map(([code, { status }]) => [code, status])
  expect(Object.fromEntries(actual)).toEqual(STATUSES)
  expect(PROBLEM_CODES).toEqual(Object.keys(PROBLEMS))
})

test.each(PROBLEM_CODES)('%s says what it means and what to do', (code) => {
  expect(PROBLEMS[code].title).toMatch(/^[A-Z].*[^.]$/)
  expect(PROBLEMS[code].help).toMatch(/^.{20,}\.$/)
})

test.each(['', 'constructor', '__proto__', 'not_found'])('%j is not a code', (text) => {
  expect(isProblemCode(text)).toBe(false)
})
