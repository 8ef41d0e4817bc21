import * as v from 'valibot'
import { expect, test } from 'vitest'
import { toTrustWords } from '../../src/components/evidence/evidence-words.ts'
import { MeasuredSchema } from '../../src/domain/trust/evidence.ts'
import { COUNTED_SCHEMES, nameOfScheme, SCHEMES } from '../../src/domain/trust/payments.ts'
import { judgeTrust } from '../../src/domain/trust/trust.ts'
import { toTrustView } from '../../src/domain/views/trust-view.ts'
import { aSettlement, measureSeller, type Settlement } from './samples.ts'

test('each way of paying has one row, and a reason people can read', () => {
  const ids = SCHEMES.map(({ id }) => id)
  expect(new Set(ids).size).toBe(ids.length)
  for (const { name, reason } of SCHEMES) {
    expect(name.length).toBeLessThanOrEqual(80)
    expect(reason).toMatch(/^[A-Z].*\.$/)
  }
})

test('what counts has a name that a page can print in a line of several', () => {
  expect(COUNTED_SCHEMES).not.toContain('stripe')
  expect(COUNTED_SCHEMES.map(nameOfScheme)).toEqual([
    'x402 exact or MPP evm (EIP-3009)',
    'x402 exact on Solana',
    'x402 exact (Permit2)',
    'x402 upto (Permit2)',
    'MPP charge on Tempo',
  ])
})

test.each(COUNTED_SCHEMES)(
  'payments by %s say so in a listing’s JSON and on its page',
  (scheme) => {
    const paid = [aSettlement({ scheme }), aSettlement({ scheme }), aSettlement({ scheme: null })]
    const measured = measureSeller(paid)
    expect(v.is(MeasuredSchema, measured)).toBe(true)
    const trust = toTrustView(judgeTrust(measured, 1, '2026-11-20'), 'our own chain reading')
    expect(trust).toMatchObject({ paid_by: [scheme] })
    expect(toTrustWords(trust).paidBy).toBe(`Paid by: ${nameOfScheme(scheme)}.`)
  },
)

test('ways of paying stand in the order of their table, and are absent where nobody wrote them down', () => {
  const pay = (...schemes: Settlement['scheme'][]) =>
    measureSeller(schemes.map((scheme) => aSettlement({ scheme })))?.paid_by
  expect(pay('tempo_charge', 'eip3009', 'tempo_charge')).toEqual(['eip3009', 'tempo_charge'])
  expect(pay(null)).toBeUndefined()
})
