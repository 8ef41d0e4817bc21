import { create, insert, search } from '@orama/orama'
import { expect, test } from 'vitest'
import { buildSearchIndex } from '../../src/search/build-search-index.ts'
import { readId } from '../../src/search/index-rows.ts'
import { loadSearchIndex } from '../../src/search/load-search-index.ts'
import { createPostingsIndex, createPostingsTokenizer } from '../../src/search/orama-postings.ts'
import { searchIndex } from '../../src/search/search-index.ts'
import { SEARCH_SCHEMA, toOramaDocument } from '../../src/search/search-schema.ts'
import { createTextAnalysis } from '../../src/search/text-analysis.ts'
import { createVocabulary } from '../../src/search/vocabulary.ts'
import { sampleDocument } from './search-samples.ts'

const documents = [
  sampleDocument({ id: 'mcp.one', name: 'Weather desk', summary: 'Forecasts for cities.' }),
  sampleDocument({ id: 'mcp.three', name: 'Maps', tags: ['weather'], summary: 'Streets.' }),
  sampleDocument({ id: 'mcp.two', name: 'Forecast', summary: 'Weather, wind and waves.' }),
]

test("Orama's own search over our component gives the score the engine serves", async () => {
  const analysis = createTextAnalysis()
  const vocabulary = createVocabulary(analysis).decide()
  const database = create({
    schema: SEARCH_SCHEMA,
    components: {
      index: createPostingsIndex(analysis.terms),
      tokenizer: createPostingsTokenizer(analysis, vocabulary),
    },
  })
  for (const document of documents) insert(database, toOramaDocument(document))
  const { hits } = await search(database, { term: 'weather forecasts' })

  const index = loadSearchIndex(buildSearchIndex(documents))
  const { organic } = searchIndex(index, { q: 'weather forecasts', limit: 20, offset: 0 })
  expect(hits.map(({ id }) => id)).toEqual(
    organic.rows.map(({ row }) => readId(index, 'organic', row)),
  )
  hits.forEach(({ score }, at) => {
    expect(score).toBeCloseTo(organic.rows[at]?.relevance ?? 0, 5)
  })
})
