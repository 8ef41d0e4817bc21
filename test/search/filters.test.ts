import { describe, expect, test } from 'vitest'
import { toSearchDocument } from '../../src/build/indexes.ts'
import { createOpenApi } from '../../src/build/openapi/create-openapi.ts'
import { parseSearchForm, toApiQuery } from '../../src/components/search/search-form.ts'
import { toSearchView } from '../../src/components/search/search-view.ts'
import {
  FILTER_ROWS,
  LISTING_FILTERS,
  SEARCH_FACETS,
} from '../../src/domain/search/search-filters.ts'
import type { SearchQuery } from '../../src/domain/search/search-parameters.ts'
import { parseSearchParameters } from '../../src/domain/search/search-parameters.ts'
import { readId } from '../../src/search/index/index-file.ts'
import type { SearchDocument } from '../../src/search/index/search-document.ts'
import { searchIndex } from '../../src/search/query/search-index.ts'
import { BASE_URL, toListing } from '../domain/listing-samples.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { SHARED_HOSTS } from '../support/shared-hosts.ts'
import { indexOf, sampleDocument } from './search-samples.ts'

const KNOWN = {
  categories: ['data_weather', 'web_search'],
  sources: ['mcp_registry', 'x402_list'],
  networks: ['eip155:8453', 'eip155:4217'],
  tasks: ['geocoding', 'web_search'],
}
const FACTS: Partial<SearchDocument>[] = [
  {
    kind: 'http_api',
    rails: ['x402'],
    minUsd: 0.01,
    trustScore: 70,
    auth: 'payment',
    networks: ['eip155:8453'],
  },
  {
    kind: 'http_api',
    rails: ['mpp', 'x402'],
    minUsd: 2,
    has: ['openapi', 'llms_txt'],
    tasks: ['web_search'],
  },
  { kind: 'mcp_server', runs: ['local'], auth: 'none', sources: ['mcp_registry'] },
  { kind: 'mcp_server', runs: ['local', 'remote'], auth: 'oauth', categories: ['web_search'] },
  { kind: 'a2a_agent', has: ['llms_txt'], minUsd: 0, categories: ['data_weather', 'web_search'] },
  { kind: 'kit', trustScore: 20, sources: ['mcp_registry', 'x402_list'], auth: 'api_key' },
]
const documents = FACTS.map((facts, at) =>
  sampleDocument({ id: `x402.s${at}`, name: `sample ${at}`, ...facts }),
)
const index = indexOf(documents, KNOWN)

function find(rawQuery: string): string[] {
  const parsed = parseSearchParameters(rawQuery, KNOWN)
  if ('problems' in parsed) throw new Error(JSON.stringify(parsed.problems))
  return searchIndex(index, parsed.query)
    .organic.rows.map(({ row }) => readId(index, row))
    .toSorted()
}

const ofListings = FILTER_ROWS.filter(([name]) => LISTING_FILTERS.includes(name))

describe.each(ofListings)('filter %s', (name, filter) => {
  test('keeps the listings for which it holds, and no other', () => {
    if (!('of' in filter)) return
    const values = typeof filter.values === 'string' ? KNOWN[filter.values] : filter.values
    for (const value of values)
      expect(find(`${name}=${value}`), value).toEqual(
        documents.filter((facts) => filter.of(facts).includes(value)).map(({ id }) => id),
      )
  })

  test('takes its example and no other thing', () => {
    const text = String(filter.example)
    const known = { categories: [text], sources: [text], networks: [text], tasks: [text] }
    expect(parseSearchParameters(`${name}=${text}`, known)).toMatchObject({
      query: { [name]: filter.example },
    })
    const parsed = parseSearchParameters(`${name}=no+such`, known)
    expect(parsed).toMatchObject({ problems: [{ in: 'query', name }] })
  })

  test('is described, passed on by the page, and a chip there', () => {
    const { paths } = createOpenApi('https://waypost.example', SITE_TEXTS)
    expect(JSON.stringify(paths)).toContain(JSON.stringify(filter.text))
    const form = parseSearchForm(new URLSearchParams({ [name]: '1' }))
    expect(new URLSearchParams(toApiQuery(form)).get(name)).toBe('1')
    const answer = { total: 0, results: [], notes: [] }
    expect(toSearchView(form, answer, new Map()).chips).toHaveLength(1)
  })

  test('is counted where the page has a list of it', () => {
    expect(SEARCH_FACETS.some((facet) => facet === name)).toBe(filter.list !== undefined)
  })
})

test('several values of one parameter must all hold', () => {
  expect(find('has=llms_txt')).toEqual(['x402.s1', 'x402.s4'])
  expect(find('has=openapi,llms_txt')).toEqual(['x402.s1'])
})

test('a network is also known by its name', () => {
  expect(find('network=base')).toEqual(['x402.s0'])
  expect(find('network=solana')).toEqual([])
})

describe('what is declared free', () => {
  const directory = { baseUrl: BASE_URL, tables: { sharedHosts: SHARED_HOSTS }, sources: new Map() }
  const toDocument = (id: string, facts: Record<string, unknown>) =>
    toSearchDocument(toListing({ id, facts }), directory)
  const unpriced = { pricing: { model: 'unknown' } }
  const priced = indexOf([
    toDocument('api.a-unpriced', unpriced),
    toDocument('api.b-priced', {}),
    toDocument('api.c-free', { ...unpriced, cost: 'free' }),
  ])
  const idsOf = (query: Partial<SearchQuery>) =>
    searchIndex(priced, { limit: 5, offset: 0, ...query }).organic.rows.map(({ row }) =>
      readId(priced, row),
    )

  test('costs nothing', () => expect(idsOf({ max_price_usd: 0 })).toEqual(['api.c-free']))

  test('has a listed price of 0 where nothing else orders listings', () => {
    const order = ['api.c-free', 'api.b-priced', 'api.a-unpriced']
    expect(idsOf({})).toEqual(order)
    expect(idsOf({ sort: 'price' })).toEqual(order)
  })
})

test('numbers leave out what has none', () => {
  expect(find('max_price_usd=0.5')).toEqual(['x402.s0', 'x402.s4'])
  expect(find('min_trust=0')).toEqual(['x402.s0', 'x402.s5'])
  expect(find('paid_only=false')).toHaveLength(documents.length)
})
