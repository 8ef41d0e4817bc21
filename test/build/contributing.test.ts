import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { readContent } from '../../src/content/read.ts'
import { createContentFolder, OWN_TASKS } from '../support/content-folder.ts'

/** The listings that CONTRIBUTING.md shows, without the indentation of its list. */
const examples = [
  ...readFileSync('CONTRIBUTING.md', 'utf8').matchAll(/^ {3}```yaml\n([\s\S]*?)^ {3}```$/gm),
].map(([, code = '']) => code.replace(/^ {3}/gm, ''))

test('the smallest listing comes first, then the whole one', () => {
  const [smallest = '', whole = ''] = examples.map((text) => text.split('\n').length)
  expect(examples).toHaveLength(2)
  expect(smallest).toBeLessThan(Number(whole) / 2)
})

test.each(examples)('each is sound as it is printed, and says its price once: %#', (text) => {
  const folder = createContentFolder({
    ...OWN_TASKS,
    'listings/x402/example-weather.md': text,
  })
  const { faults, counts } = readContent(folder.dir, { allowPrivate: false })
  const about = faults.filter(({ file }) => file.startsWith('listings/'))
  expect(about.map(({ message }) => message)).toEqual([
    "expected the service's own host, got api.weather.example, which is for documentation",
  ])
  expect(counts.listings).toBe(1)
  expect(text.match(/min_usd/g)).toHaveLength(1)
})
