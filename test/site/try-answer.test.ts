import { expect, test } from 'vitest'
import { toAnswerTexts } from '../../src/components/try/try-it.ts'

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
