import { expect, test } from 'vitest'
import type { SearchQuery } from '../../src/domain/search/search-query.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex, readId } from '../../src/search/index/load-index.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { sampleDocument } from './search-samples.ts'

const page = { limit: 20, offset: 0 }

function idsFor(documents: SearchDocument[], query: Partial<SearchQuery>): string[] {
  const index = loadSearchIndex(buildSearchIndex(documents))
  const { organic } = searchIndex(index, { ...page, ...query })
  return organic.rows.map(({ row }) => readId(index, row))
}

test('a word in the name outranks the same word in the summary', () => {
  const documents = [
    sampleDocument({ id: 'mcp.one', name: 'Alpha', summary: 'Reads the weather.' }),
    sampleDocument({ id: 'mcp.two', name: 'Weather', summary: 'Reads alpha.' }),
    sampleDocument({ id: 'mcp.three', name: 'Gamma', summary: 'Nothing of it.' }),
  ]
  expect(idsFor(documents, { q: 'weather' })).toEqual(['mcp.two', 'mcp.one'])
})

test('the same documents in another order give the same bytes', () => {
  const documents = ['mcp.b', 'mcp.a', 'x402.c'].map((id) => sampleDocument({ id, name: id }))
  expect(buildSearchIndex(documents.toReversed())).toEqual(buildSearchIndex(documents))
})
