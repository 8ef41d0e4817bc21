import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { formatFault } from '../../src/content/faults.ts'
import { readContent } from '../../src/content/read.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'

const OWN = readFileSync(
  join(import.meta.dirname, '../../content/tables/search-words.yaml'),
  'utf8',
)
const LINES = OWN.split('\n').length

function contentWith(table: string): string {
  const folder = createContentFolder({
    'listings/x402/a.md': listingText(),
    'tables/search-words.yaml': table,
  })
  return folder.dir
}

function faultsOf(table: string): string[] {
  const { content, faults } = readContent(contentWith(table), { allowPrivate: false })
  expect(content === null).toBe(faults.some(({ severity }) => severity === 'error'))
  const own = faults.filter(({ file }) => file === 'tables/search-words.yaml')
  return own.map((fault) => formatFault(fault, 'content'))
}

describe('a damaged table of words is told with its line', () => {
  const row = (text: string) => `${OWN}  ${text}\n`

  test.each([
    ['a word related to itself', row('rainy: rainy forecast'), 'cannot be related to itself'],
    ['a word in capitals before the colon', row('Rainy: forecast'), 'expected plain lower-case'],
    ['a word in capitals behind it', row('rainy: Forecast'), 'expected plain lower-case words'],
    ['a word twice', row('rainy: forecast forecast'), 'expected each word once'],
    ['nothing meant', row('rainy: ""'), 'rainy'],
    ['too many', row('rainy: a1 b1 c1 d1 e1 f1 g1'), 'rainy'],
    ['a list', row('rainy: [forecast]'), 'expected words with a space between them'],
    [
      'an asked row twice',
      row('wage wage2: payroll\n  wage wage2: salary'),
      'expected each key once',
    ],
    ['a line that is not YAML', row('rainy: "forecast'), 'expected the bracket or quote'],
  ])('%s', (_name, table, message) => {
    const [fault = '', ...others] = faultsOf(table)
    expect(others).toEqual([])
    expect(fault).toContain(message)
    const [, line] = /^content\/tables\/search-words\.yaml:(\d+)[ :]/.exec(fault) ?? []
    expect(Number(line)).toBeGreaterThanOrEqual(LINES)
    expect(Number(line)).toBeLessThanOrEqual(LINES + 1)
  })

  test('an unknown key, by the one that was meant', () => {
    expect(faultsOf(OWN.replace('\nfiller: ', '\nfilers: '))).toContainEqual(
      expect.stringMatching(
        /search-words\.yaml:\d+ filers: expected a known key; did you mean filters/,
      ),
    )
  })

  test('a filter that is not a parameter', () => {
    expect(faultsOf(OWN.replace('use: sort=price', 'use: the sort'))).toEqual([
      expect.stringMatching(/search-words\.yaml:\d+ filters\[1\]\.use: expected parameter=value/),
    ])
  })
})
