import { randomUUID } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { createSearch } from '../../functions/search/search.ts'
import { pageMembers } from '../../functions/search/search-routes.ts'
import { CompactResponseSchema } from '../../src/domain/search/search-response.ts'
import { indexOf, sampleDocument, textsOf } from '../search/search-samples.ts'
import { SHARED_HOSTS } from '../support/shared-hosts.ts'

const documents = [
  sampleDocument({
    id: 'x402.rain',
    name: 'Rain radar',
    summary: 'Weather forecast by radar.',
    categories: ['data_weather'],
    rails: ['x402'],
    minUsd: 0.005,
    maxUsd: 0.02,
    trustScore: 80,
    liveTested: true,
    call: true,
    added: '2026-03-01',
    auth: 'payment',
    settlements: 12,
    reportedCalls: 5,
    answered: '2026-09-28',
    lastPaid: '2026-07-20',
    paid: '4–20 Jul 2026: 12 settlements to its whole host, per merona',
  }),
  sampleDocument({
    id: 'api.sun',
    name: 'Sun',
    summary: 'Weather of the “sunny” kind: \\ "clear".',
    categories: ['data_weather'],
    minUsd: 0,
    maxUsd: 0,
    trustScore: 20,
    added: '2026-05-01',
    auth: 'none',
  }),
  sampleDocument({
    id: 'mcp.wind',
    name: 'Wind and weather',
    kind: 'mcp_server',
    summary: 'Forecasts.',
    minUsd: 2,
    maxUsd: 3,
    reportedCalls: 70,
    settlements: 12,
    lastPaid: '2026-09-20',
    added: '2026-04-01',
    runs: ['local'],
    remote: false,
  }),
  sampleDocument({
    id: 'mcp.fog',
    name: 'Fog',
    kind: 'mcp_server',
    summary: 'Weather.',
    reportedCalls: 900,
    runs: ['remote', 'local'],
  }),
  sampleDocument({ id: 'api.cake', name: 'Cake', summary: 'Recipes.', categories: ['food'] }),
  sampleDocument({ id: 'kit.ours', name: 'Weather kit', kind: 'kit', firstParty: true, runs: [] }),
]
const index = indexOf(documents)
const TEXTS = textsOf(index, ['kit.ours'])
const search = createSearch({
  index: () => index,
  texts: () => TEXTS,
  randomUuid: randomUUID,
})

function answer(rawQuery: string) {
  const reply = search(rawQuery)
  if (reply.status !== 200) throw new Error(`400: ${JSON.stringify(reply.problems)}`)
  return JSON.parse(new TextDecoder().decode(reply.body))
}
const idsOf = (rawQuery: string) => answer(rawQuery).results.map(({ id }: { id: string }) => id)

describe('sort', () => {
  test.each([
    ['q=weather&sort=price', ['x402.rain', 'mcp.wind', 'api.sun', 'mcp.fog']],
    ['q=weather&sort=trust', ['x402.rain', 'mcp.wind', 'api.sun', 'mcp.fog']],
    ['q=weather&sort=newest', ['mcp.wind', 'x402.rain', 'api.sun', 'mcp.fog']],
    ['q=weather&sort=calls', ['mcp.wind', 'x402.rain', 'mcp.fog', 'api.sun']],
    ['sort=calls', ['mcp.fog', 'mcp.wind', 'x402.rain', 'api.sun', 'api.cake']],
    ['sort=calls&view=compact&limit=2', ['mcp.fog', 'mcp.wind']],
    ['sort=paid', ['mcp.wind', 'x402.rain', 'mcp.fog', 'api.sun', 'api.cake']],
    ['paid_since=2026-07-20', ['x402.rain', 'mcp.wind']],
    ['paid_since=2026-07-21', ['mcp.wind']],
    ['answered_since=2026-07-21', ['x402.rain']],
    ['answered_since=2026-09-29', []],
    ['sort=price', ['api.sun', 'x402.rain', 'mcp.wind', 'api.cake', 'mcp.fog']],
    ['sort=newest', ['api.sun', 'mcp.wind', 'x402.rain', 'api.cake', 'mcp.fog']],
    ['q=weather&sort=price&limit=2&offset=1', ['mcp.wind', 'api.sun']],
    ['q=weather&sort=price&kind=mcp_server', ['mcp.wind', 'mcp.fog']],
  ])('%s', (rawQuery, ids) => {
    expect(idsOf(rawQuery)).toEqual(ids)
  })

  test('relevance is the default, said or not', () => {
    const plain = idsOf('q=weather')
    expect(idsOf('q=weather&sort=relevance')).toEqual(plain)
    expect(answer('q=weather&sort=price').total).toBe(plain.length)
  })
})

describe('facets', () => {
  test('count the matches by each of their values, the most frequent first', () => {
    const { facets } = answer('q=weather&facets=kind,category,rail,source,price,auth,runs')
    expect(facets).toEqual({
      kind: [
        { id: 'http_api', count: 2 },
        { id: 'mcp_server', count: 2 },
      ],
      category: [{ id: 'data_weather', count: 2 }],
      rail: [{ id: 'x402', count: 1 }],
      source: [],
      price: [
        { id: 'free', count: 1 },
        { id: 'ge_1', count: 1 },
        { id: 'lt_0.01', count: 1 },
        { id: 'unknown', count: 1 },
      ],
      auth: [
        { id: 'no_account', count: 2 },
        { id: 'unknown', count: 2 },
        { id: 'none', count: 1 },
        { id: 'payment', count: 1 },
      ],
      runs: [
        { id: 'remote', count: 3 },
        { id: 'local', count: 2 },
      ],
    })
  })

  test('each is counted with every filter but its own', () => {
    const { facets, total } = answer('q=weather&kind=mcp_server&runs=local&facets=kind,runs')
    expect(total).toBe(2)
    expect(facets.kind).toEqual([{ id: 'mcp_server', count: 2 }])
    expect(facets.runs).toEqual([
      { id: 'local', count: 2 },
      { id: 'remote', count: 1 },
    ])
  })

  test('are counted over everything where there are no words, and absent where nobody asked', () => {
    expect(answer('facets=category').facets.category).toEqual([
      { id: 'data_weather', count: 2 },
      { id: 'food', count: 1 },
    ])
    expect(answer('q=weather')).not.toHaveProperty('facets')
  })
})

test.each([
  ['auth=none', ['api.sun']],
  ['auth=unknown', ['api.cake', 'mcp.fog', 'mcp.wind']],
  ['runs=local', ['mcp.fog', 'mcp.wind']],
  ['runs=remote&kind=mcp_server', ['mcp.fog']],
])('the filter %s', (rawQuery, ids) => {
  expect(idsOf(rawQuery).toSorted()).toEqual(ids)
})

describe('explain', () => {
  test.each(['q=weather+forecast', 'q=rain+radar', 'q=forcast', 'q=Sun', 'sort=price'])(
    '%s: its parts give the relevance of each row',
    (rawQuery) => {
      const { results, featured_first_party: own } = answer(`${rawQuery}&explain=true`)
      expect(results.length).toBeGreaterThan(0)
      for (const { relevance, explain } of [...results, ...own]) {
        const factors = explain.trust_factor * explain.live_tested_factor
        const sum = explain.matched.reduce(
          (total: number, { score }: { score: number }) => total + score,
          0,
        )
        expect(explain.text).toBeCloseTo(sum, 9)
        const text = rawQuery.startsWith('q=') ? explain.text : 1
        expect(Math.abs(text * factors - relevance)).toBeLessThanOrEqual(1e-6)
      }
    },
  )

  test('names what was asked, as what it matched, and where', () => {
    const [first] = answer('q=rain+forcast&explain=true').results
    expect(first.explain).toMatchObject({ trust_factor: 1.4, live_tested_factor: 1.1 })
    const matched = first.explain.matched.map(
      ({ term, as, fields }: { term: string; as: string; fields: string[] }) => [term, as, fields],
    )
    expect(matched).toContainEqual(['rain', 'rain', ['name']])
    expect(matched).toContainEqual(['forcast', 'forecast', ['summary']])
  })

  test.each([
    ['q=mcp.fog', 'id'],
    ['q=Sun', 'name'],
  ])('%s says what it is exactly', (rawQuery, exact) => {
    expect(answer(`${rawQuery}&explain=1`).results[0].explain.exact).toBe(exact)
  })

  test('is absent where nobody asked', () => {
    expect(answer('q=weather').results[0]).not.toHaveProperty('explain')
    expect(answer('q=weather&explain=false').results[0]).not.toHaveProperty('explain')
  })
})

describe('the compact view', () => {
  test('has short rows with what an agent chooses by', () => {
    const { results } = answer('view=compact&sort=price')
    expect(results.slice(0, 2)).toEqual([
      {
        id: 'api.sun',
        name: 'Sun',
        kind: 'http_api',
        summary: 'Weather of the “sunny” kind: \\ "clear".',
        price: { min_usd: 0, max_usd: 0 },
        rails: [],
        auth: 'none',
        trust: 20,
        vouched: false,
        call: false,
      },
      {
        id: 'x402.rain',
        name: 'Rain radar',
        kind: 'http_api',
        summary: 'Weather forecast by radar.',
        price: { min_usd: 0.005, max_usd: 0.02 },
        rails: ['x402'],
        auth: 'payment',
        trust: 80,
        vouched: false,
        call: true,
        paid: '4–20 Jul 2026: 12 settlements to its whole host, per merona',
      },
    ])
    expect(results.at(-1)).toMatchObject({ id: 'mcp.fog', price: null, trust: null })
  })

  test('is what its schema says, with facets and explanations too, and without a showcase', () => {
    const found = answer('q=weather&view=compact&facets=kind&explain=true')
    expect(v.parse(v.strictObject(CompactResponseSchema.entries), found)).toEqual(found)
    expect(found).not.toHaveProperty('featured')
    expect(found.query.view).toBe('compact')
  })

  test('finds the same as the full view, which view=full asks for by name', () => {
    expect(idsOf('q=weather&view=compact')).toEqual(idsOf('q=weather'))
    expect(answer('q=weather&view=full').featured).toHaveLength(1)
  })
})

test('a search while somebody types counts nothing, and its links say they are a page’s', () => {
  const shown: number[] = []
  const typing = createSearch({
    index: () => index,
    texts: () => TEXTS,
    randomUuid: randomUUID,
    onShown: (_index, rows) => shown.push(rows.length),
  })
  const reply = typing('q=weather', { page: 'typing' })
  if (reply.status !== 200) throw new Error('refused')
  const { results } = JSON.parse(new TextDecoder().decode(reply.body))
  expect(results[0].links.go).toMatch(/&pos=1&src=web$/)
  expect(shown).toEqual([])
  typing('q=weather')
  expect(shown).toEqual([4])
})

test('rows of the search page say whose domain a listing has and which operation matches at what price, the API’s do not', () => {
  const price = { min_usd: 0.03, max_usd: 0.03, per: 'call' }
  const operation = { name: 'rain_radar', price }
  const operations = indexOf([
    sampleDocument({
      id: 'x402.rain~0',
      texts: { name: ['rain radar'], labels: [], summary: [] },
      body: JSON.stringify({ id: 'x402.rain~0', operation, listing: { id: 'x402.rain' } }),
    }),
  ])
  const search = createSearch({
    index: () => index,
    texts: () => TEXTS,
    randomUuid: randomUUID,
    pageMembers: (serving, answered) =>
      pageMembers(serving, answered, {
        operations,
        sharedHosts: SHARED_HOSTS,
        listingOf: (id) => ({ mark: `/marks/${id}.svg` }),
      }),
  })
  const rowOf = (page?: 'submitted') => {
    const reply = search('q=rain&view=compact', { page })
    if (reply.status !== 200) throw new Error('refused')
    return JSON.parse(new TextDecoder().decode(reply.body)).results[0]
  }
  const found = {
    id: 'x402.rain',
    operation: { name: 'rain_radar', price },
    mark: '/marks/x402.rain.svg',
  }
  expect(rowOf('submitted')).toMatchObject(found)
  expect(rowOf('submitted').domain).toMatch(/\.example$/)
  expect(Object.keys(rowOf())).not.toContain('domain')
})

test('a compact row carries what to know before a call', () => {
  const warned = indexOf([sampleDocument({ id: 'x402.rain', warning: 'price_changed' })])
  const search = createSearch({ index: () => warned, texts: () => TEXTS, randomUuid: randomUUID })
  const reply = search('view=compact')
  if (reply.status !== 200) throw new Error('refused')
  const [row] = JSON.parse(new TextDecoder().decode(reply.body)).results
  expect(row).toMatchObject({ id: 'x402.rain', warning: 'price_changed' })
})
