import { expect, test } from 'vitest'
import { toAnswerTexts } from '../../src/components/try/try-it.ts'
import { readRequestedTerms } from '../../src/domain/kit/requested-terms.ts'

const answered = (type: string, text: string) =>
  toAnswerTexts({ status: 502, type, text, receipt: undefined })

test('a problem that came back is said in words, and its JSON is folded', () => {
  const problem = { title: 'The seller could not be reached', detail: 'No <b>address</b>.' }
  const shown = answered('application/problem+json; charset=utf-8', JSON.stringify(problem))
  expect(shown.problem).toBe('The seller could not be reached: No <b>address</b>.')
  expect(JSON.parse(shown.raw)).toEqual(problem)
  expect(shown.body).toBe('')
})

test.each([
  ['application/json', '{"title":"Not a problem"}'],
  ['application/problem+json', '[1'],
  ['application/problem+json', 'null'],
])('%s %s is shown as it came', (type, text) => {
  const { problem, raw, body } = answered(type, text)
  expect([problem, raw]).toEqual(['', ''])
  expect(body).not.toBe('')
})

test.each<[string, object, string[], number?]>([
  ['what is listed', {}, ['', '', '']],
  ['a billionth more, as by rounding', {}, ['', '', ''], 0.009999999],
  ['two billionths more', {}, ['Price', '', ''], 0.009999998],
  ['more than the listed price', { maxAmountRequired: '10001' }, ['Price', '', '']],
  ['a network that is not listed', { network: 'polygon' }, ['', 'Network', 'Paid to']],
  ['a coin that is unknown', { asset: '0x' }, ['', '', '']],
  ['a payee that is not known', { payTo: `0x${'22'.repeat(20)}` }, ['', '', 'Paid to']],
])('a 402 that asks for %s is marked where it differs', (_, change, differing, max_usd = 0.01) => {
  const offer = {
    ...{ scheme: 'exact', network: 'base', maxAmountRequired: '10000' },
    ...{ asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913', payTo: `0x${'11'.repeat(20)}` },
    ...change,
  }
  const price = { min_usd: 0, max_usd }
  const offers = ['eip155:8453', 'eip155:84532'].map((network) => ({
    ...{ rail: 'x402' as const, network },
    ...price,
  }))
  const body = JSON.stringify({ x402Version: 1, accepts: [offer] })
  const listed = { price: { ...price, per: 'call' as const }, offers }
  const payees = [`eip155:8453:0x${'11'.repeat(20)}`]
  const [read] = readRequestedTerms({ headers: {}, body }, listed, payees)?.offers ?? []
  expect(read?.rows.map(({ label, differs }) => (differs ? label : ''))).toEqual(differing)
})
