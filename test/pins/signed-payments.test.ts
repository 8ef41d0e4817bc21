import { readFileSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { judgePayment } from '../../src/domain/pins/expectation.ts'
import { encode, THIEF } from './pinned-world.ts'

/**
 * What the client of `@x402/evm` 2.27.0 signed for $0.01 to one payee, recorded: by EIP-3009, by
 * Permit2, and by Permit2 for a ceiling (`upto`).
 */
const PAYMENTS: Record<string, object> = JSON.parse(
  readFileSync('test/fixtures/pins/client-payments.json', 'utf8'),
)
const EXPECTED = {
  payee: ['eip155:8453:0x1111111111111111111111111111111111111111'],
  max_usd: 0.01,
}

const judge = (payment: object) =>
  judgePayment(['PAYMENT-SIGNATURE', encode(payment)], EXPECTED).map(({ what }) => what)

/** The payment with one value, of those that were signed, replaced. */
function forge(payment: object, path: string, value: string): object {
  const copy = structuredClone(payment)
  const names = path.split('.')
  const last = names.pop() ?? ''
  const holder = names.reduce<object>((at, name) => Reflect.get(at, name), copy)
  expect(Reflect.has(holder, last)).toBe(true)
  Reflect.set(holder, last, value)
  return copy
}

describe.each([
  ['exact', 'payload.authorization.to', 'payload.authorization.value'],
  [
    'permit2',
    'payload.permit2Authorization.witness.to',
    'payload.permit2Authorization.permitted.amount',
  ],
  [
    'upto',
    'payload.permit2Authorization.witness.to',
    'payload.permit2Authorization.permitted.amount',
  ],
])('a payment by %s', (name, payee, amount) => {
  const payment = PAYMENTS[name] ?? {}

  test('passes as its client signed it', () => {
    expect(judge(payment)).toEqual([])
  })

  test('is refused where it was signed for another payee or a higher amount', () => {
    expect(judge(forge(payment, payee, THIEF))).toEqual(['payee'])
    expect(judge(forge(payment, amount, '10001'))).toEqual(['price'])
    expect(judge(forge(payment, 'accepted.payTo', THIEF))).toEqual(['payee'])
  })
})
