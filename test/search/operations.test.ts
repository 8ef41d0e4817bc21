import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { createFindOperations } from '../../functions/search/find-operations.ts'
import { readContent } from '../../src/compile/content/read-content.ts'
import { createCatalogue } from '../../src/compile/derive/catalogue.ts'
import {
  toDocumentRow,
  toIndexTables,
  toOperationDocuments,
  toSearchIndex,
} from '../../src/compile/engine/write-engine.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { loadSearchIndex } from '../../src/search/index/load-search-index.ts'

const rules = { allowPrivate: false }
const baseUrl = 'https://waypost.example'
const { content } = readContent(join(import.meta.dirname, '../../content'), rules)
if (content === null) throw new Error('the content has faults: run npm run check')
const catalogue = createCatalogue(content, { baseUrl, rules, ledger: NO_LEDGER_FACTS })
const documents = catalogue.listings.flatMap((listing) => toOperationDocuments(listing, baseUrl))
const rows = documents.map((document) => `${JSON.stringify(toDocumentRow(document))}\n`)
const operations = loadSearchIndex(
  toSearchIndex(Buffer.from(rows.join('')), toIndexTables(catalogue)),
)
const find = createFindOperations({ release: () => ({ operations }) })

function answer(q: string, more = 'limit=5') {
  const found = find(`${new URLSearchParams({ q })}&${more}`)
  if ('problems' in found) throw new Error(JSON.stringify(found.problems))
  return found
}

describe('what to call for a task', () => {
  test.each([
    ['search the web', /search/],
    ['generate an image', /image|generate/],
    ['scrape a web page', /scrap/],
    ['weather forecast', /forecast/],
    ['send an email', /send|mail/],
    ['create a calendar event', /create/],
    ['create a github issue', /create|write/],
    ['delete a calendar event', /delete/],
    ['price of a token', /token|price/],
    ['translate a text', /translate/],
  ])('%s', (q, url) => {
    const [best] = answer(q).results
    expect(`${best?.operation.name} ${best?.operation.url}`.toLowerCase()).toMatch(url)
    expect(best?.digest).toMatch(/^[\w-]{43}$/)
  })

  test.each([
    [
      'query a local Postgres database',
      {
        name: 'execute_sql',
        command: 'uvx postgres-mcp --access-mode=restricted',
        bring: ['env DATABASE_URI'],
      },
    ],
    ['configure the GitHub MCP server', { url: 'https://api.githubcopilot.com/mcp/' }],
    ['send an SMS', { url: 'https://api.telnyx.com/v2/mcp', bring: ['header Authorization'] }],
    [
      'price of a token',
      {
        url: 'https://coinrailz.com',
        protocol: 'JSONRPC 0.3.0',
        example: { body: { method: 'message/send' } },
      },
    ],
    [
      'weather forecast for a city',
      { name: 'weather', example: { arguments: { city: '<CITY>' } }, bring: ['env OWM_API_KEY'] },
    ],
  ])('%s: all that its first call takes stands in the first row', (q, operation) => {
    expect(answer(q, 'limit=3').results[0]).toMatchObject({ operation })
  })

  test('three results fit a kilobyte and a half', () => {
    const asked =
      'query a local Postgres database;search the web;generate an image;scrape a page;weather forecast;send an email;book a hotel'
    for (const q of `${asked};translate a text;price of a token;find a company`.split(';'))
      expect(JSON.stringify(answer(q, 'limit=3')).length, q).toBeLessThanOrEqual(1500)
  })

  test('of one listing at most two stand among the first five', () => {
    for (const q of ['search', 'price', 'company data', 'image', 'send']) {
      const ids = answer(q).results.map(({ listing }) => listing.id)
      for (const id of ids)
        expect(ids.filter((other) => other === id).length, q).toBeLessThanOrEqual(2)
    }
  })

  test('pages follow each other without repeats', () => {
    const named = (more: string) =>
      answer('search', more).results.map(({ listing, operation: { name, url } }) => [
        listing.id,
        name ?? url,
      ])
    expect([...named('limit=10'), ...named('limit=10&offset=10')]).toEqual(named('limit=20'))
  })

  test('what the words sound like a filter for stands first', () => {
    const { results, notes } = answer('an API I can pay with MPP')
    for (const { operation } of results)
      expect(operation.offers?.map(({ rail }) => rail) ?? ['mpp']).toContain('mpp')
    expect(notes).toContain('Results that pass this filter come first.')
    for (const { operation } of answer('query a local Postgres database', 'limit=3').results)
      expect(operation.url).toBeUndefined()
  })

  test('or a note says that nothing of the kind answers', () => {
    const { results, notes } = answer('A2A agent that books travel')
    expect(results[0]?.listing.kind).not.toBe('a2a_agent')
    expect(notes.join()).toContain('No good match passes this filter')
  })

  test('filters are those of the search', () => {
    const { results } = answer('weather', 'rail=mpp')
    expect(results.length).toBeGreaterThan(0)
    for (const { listing } of results) expect(listing.id).toMatch(/^x402\./)
    expect(
      answer('weather', 'max_price_usd=0').results.every(
        ({ operation }) => operation.price === undefined || operation.price.min_usd === 0,
      ),
    ).toBe(true)
  })
})

test('five come unless something else is asked for', () => {
  const found = find('q=search')
  expect('results' in found && found.results).toHaveLength(5)
})

test.each([
  'limit=21',
  'limit=0',
  'view=compact',
  'sort=price',
  'facets=kind',
  'nonsense=1',
  'kind=x',
])('%s is refused by its name', (query) => {
  expect(find(`q=search&${query}`)).toMatchObject({
    problems: [{ in: 'query', name: query.split('=')[0] }],
  })
})
