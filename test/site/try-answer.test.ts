import { expect, test } from 'vitest'
import { toAnswerMarkup } from '../../src/components/try/try-markup.ts'

const answered = (type: string, text: string) =>
  toAnswerMarkup({ status: 502, type, text, receipt: undefined, callReceipt: null }).text

test('a problem that came back is said in words, and its JSON is folded', () => {
  const problem = { title: 'The seller could not be reached', detail: 'No <b>address</b>.' }
  const shown = answered('application/problem+json; charset=utf-8', JSON.stringify(problem))
  expect(shown).toContain('The seller could not be reached: No &lt;b&gt;address&lt;/b&gt;.')
  expect(shown).toContain('As it came')
})

test.each([
  ['application/json', '{"title":"Not a problem"}'],
  ['application/problem+json', '[1'],
  ['application/problem+json', 'null'],
])('%s %s is shown as it came', (type, text) => {
  expect(answered(type, text)).not.toContain('As it came')
  expect(answered(type, text)).toContain('<pre')
})
