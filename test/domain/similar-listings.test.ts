import { expect, test } from 'vitest'
import { createSimilarFinder } from '../../src/derive/similar.ts'
import { toListing } from './listing-samples.ts'

const api = (id: string, task: string, tags: string[]) =>
  toListing({
    id,
    facts: {
      categories: ['web_search'],
      tags,
      http: [{ method: 'GET', url: `https://${id}.example/search`, task }],
    },
  })

test('a search API is like other search APIs, not like an encyclopedia with the same tags', () => {
  const search = api('x402.search', 'web_search', ['knowledge', 'facts'])
  const other = api('x402.other', 'web_search', ['ranking'])
  const encyclopedia = api('api.encyclopedia', 'encyclopedia', ['knowledge', 'facts'])
  const findSimilar = createSimilarFinder([search, other, encyclopedia])
  expect(findSimilar(search)).toEqual(['x402.other', 'api.encyclopedia'])
})
