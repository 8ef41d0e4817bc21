import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  type CompareFacts,
  CompareFactsSchema,
  CompareSchema,
  compareRows,
  toCompareList,
  toCompareRow,
  toCompareView,
} from '../../src/domain/compare/compare-view.ts'
import type { DerivedListing } from '../../src/domain/derived/derived-listing.ts'
import { BASE_URL, findFaults, SOURCES, toListing, toMeasured, toSold } from './listing-samples.ts'
import { SITE_TEXTS } from './site-samples.ts'

const row = toCompareRow(toListing(), SOURCES)

const SECTION: CompareFacts['sections'][number] = {
  id: 'all',
  title: 'All',
  note: 'All of them.',
  rows: [
    { id: 'x402.c', focus: 'broad' },
    { id: 'x402.a', focus: 'dedicated' },
    { id: 'x402.b', focus: 'dedicated' },
  ],
}
const PAGE: CompareFacts = v.parse(CompareFactsSchema, {
  title: 'Weather APIs',
  updated: '2026-11-20',
  sections: [SECTION],
})

const LISTINGS = new Map<string, DerivedListing>(
  [
    toSold('x402.a', 5),
    toSold('x402.b', 50),
    toListing({ id: 'x402.c' }),
    toListing({ id: 'x402.d' }),
    toListing({ id: 'x402.e' }),
    toSold('kit.search', 99, { kind: 'kit', first_party: true, pricing: { model: 'unknown' } }),
  ].map((listing) => [listing.id, listing]),
)
const TASKS = [
  {
    id: 'weather',
    offers: [
      { listing: { id: 'x402.d' }, usd: 0.001 },
      { listing: { id: 'x402.c' }, usd: 0.02 },
      { listing: { id: 'x402.d' }, usd: 0.03 },
    ],
  },
]
const DEMAND = new Map([
  ['x402.a', { all: 5, outside: 2 }],
  ['x402.b', { all: 2, outside: 1 }],
  ['x402.elsewhere', { all: 100, outside: 100 }],
])

describe('a row', () => {
  test('of a listing without evidence knows no number', () => {
    expect(row).toEqual({
      id: 'x402.example-weather',
      name: 'Example Weather',
      kind: 'HTTP API',
      summary: 'Current weather for a place.',
      price: '$0.01–$0.05 per call',
      min_usd: 0.01,
      rails: ['x402'],
      trust: null,
      buyers: null,
      settlements: null,
      uptime: null,
      remote: true,
      shared_payout: false,
      source: 'MCP Registry',
    })
  })

  test('of a measured listing names its provider too', () => {
    const measured = toMeasured({ shared_payout: true })
    const listing = toListing({ evidence: { measured, signals: { uptime_30d: 99.5 } } })
    expect(toCompareRow(listing, SOURCES)).toMatchObject({
      trust: 36,
      buyers: 12,
      settlements: 340,
      uptime: 99.5,
      shared_payout: true,
      source: 'MCP Registry, X402 List',
    })
  })

  test('without independent usage has counts and no trust', () => {
    const listing = toListing({ evidence: { measured: toMeasured({ verified_buyers_30d: 0 }) } })
    expect(toCompareRow(listing, SOURCES)).toMatchObject({
      trust: null,
      buyers: 0,
      settlements: 340,
    })
  })

  test('has a summary of at most 120 characters', () => {
    const { summary } = toCompareRow(toListing({ facts: { summary: 'a'.repeat(200) } }), SOURCES)
    expect(summary).toBe(`${'a'.repeat(119)}…`)
  })
})

describe('the order of rows', () => {
  const bare = { ...row, trust: null, buyers: null, remote: false, min_usd: null }
  test.each([
    ['more trust', { trust: 40 }, { trust: 39, buyers: 99, remote: true, min_usd: 0 }],
    ['any trust before none', { trust: 0 }, { buyers: 99, remote: true, min_usd: 0 }],
    ['then more buyers', { buyers: 2 }, { buyers: 1, remote: true, min_usd: 0 }],
    ['no buyers measured before nothing measured', { buyers: 0 }, { remote: true, min_usd: 0 }],
    ['then a remote endpoint', { remote: true }, { min_usd: 0 }],
    ['then a listed price', { min_usd: 99 }, {}],
    ['then the lowest price', { min_usd: 0.01 }, { min_usd: 0.02 }],
    ['then the id', { id: 'x402.a' }, { id: 'x402.b' }],
  ])('%s', (_, first, second) => {
    const [a, b] = [
      { ...bare, id: 'x402.z', ...first },
      { ...bare, id: 'x402.a', ...second },
    ]
    expect(Math.sign(compareRows(a, b))).toBe(-1)
    expect(Math.sign(compareRows(b, a))).toBe(1)
  })
})

describe('a comparison page', () => {
  test('is the record of the specification', () => {
    const view = toPage({ first_party: ['kit.search'] })
    expect(v.parse(CompareSchema, view)).toEqual(view)
    expect({ ...view, sections: [], first_party: [] }).toEqual({
      slug: 'weather',
      type: 'compare',
      title: 'Weather APIs',
      url: 'https://directory.example/compare/weather',
      updated: '2026-11-20',
      indexable: true,
      thin_reason: null,
      disclosure: SITE_TEXTS.disclosure,
      ranking: SITE_TEXTS.comparison_ranking,
      demand_90d: { all: 7, outside: 3 },
      facts: null,
      first_party: [],
      sections: [],
      citations: [],
    })
  })

  test('ranks the rows of a section and says how much each is about the subject', () => {
    const [section] = toPage().sections
    expect(section?.rows.map(({ id, focus }) => `${id} ${focus}`)).toEqual([
      'x402.b dedicated',
      'x402.a dedicated',
      'x402.c broad',
    ])
  })

  test('about one task ranks by the price of that task', () => {
    const rows = ['c', 'd', 'e'].map((id) => ({ id: `x402.${id}`, focus: 'broad' as const }))
    const [section] = toPage({ sections: [{ ...SECTION, task: 'weather', rows }] }).sections
    expect(section?.rows.map(({ id, min_usd }) => [id, min_usd])).toEqual([
      ['x402.d', 0.001],
      ['x402.c', 0.02],
      ['x402.e', null],
    ])
  })

  test('does not rank first-party rows, wherever the file names them', () => {
    const rows = [...SECTION.rows, { id: 'kit.search', focus: 'dedicated' as const }]
    const view = toPage({
      sections: [{ ...SECTION, rows }],
      first_party: ['kit.search', 'kit.search', 'x402.a'],
    })
    expect(view.first_party.map(({ id }) => id)).toEqual(['kit.search'])
    expect(view.first_party[0]).not.toHaveProperty('focus')
    expect(view.sections[0]?.rows.map(({ id }) => id)).toEqual(['x402.b', 'x402.a', 'x402.c'])
  })

  test.each([
    [['x402.a', 'x402.b'], 'fewer than 3 listings to compare'],
    [['x402.a', 'x402.b', 'x402.gone'], 'fewer than 3 listings to compare'],
    [['x402.a', 'x402.b', 'kit.search'], 'fewer than 3 listings to compare'],
    [['x402.a', 'x402.b', 'x402.c'], null],
  ])('with %j is thin: %s', (ids, thin_reason) => {
    const rows = ids.map((id) => ({ id, focus: 'broad' as const }))
    const view = toPage({ sections: [{ ...SECTION, rows }] })
    expect(view).toMatchObject({ thin_reason, indexable: thin_reason === null })
  })

  test('that names one listing in three sections is thin all the same', () => {
    const rows = [{ id: 'x402.a', focus: 'broad' as const }]
    const sections = ['a', 'b', 'c'].map((id) => ({ ...SECTION, id, rows }))
    expect(toPage({ sections })).toMatchObject({ indexable: false, demand_90d: { all: 5 } })
  })

  test('may have words of its own', () => {
    const facts = [{ text: 'Ten firms measure it.', url: 'https://x.example/' }]
    const own = { disclosure: 'Ours.', ranking: 'By name.', facts }
    expect(toPage(own)).toMatchObject(own)
  })

  test('stands in the list of pages', () => {
    const { slug, title, url, updated, indexable } = toPage()
    expect(toCompareList([toPage()])).toEqual({ pages: [{ slug, title, url, updated, indexable }] })
  })
})

describe('the file of a comparison page', () => {
  test.each([
    ['no section', { sections: [] }, /^sections: expected at least one section$/],
    [
      'another focus',
      { sections: [{ ...SECTION, rows: [{ id: 'x402.a', focus: 'narrow' }] }] },
      /focus: expected "dedicated" or "broad"$/,
    ],
    ['a day off the calendar', { updated: '2026-04-31' }, /^updated: expected a date that exists/],
    [
      'a citation without https',
      { citations: [{ label: 'x', url: 'http://x.example' }] },
      /https URL$/,
    ],
    ['an unknown key', { sponsored: [] }, /^sponsored: /],
  ])('with %s is refused', (_, changes, message) => {
    expect(findFaults(CompareFactsSchema, { ...PAGE, ...changes })).toEqual([
      expect.stringMatching(message),
    ])
  })
})

function toPage(changes: Partial<CompareFacts> = {}) {
  return toCompareView(
    'weather',
    { ...PAGE, ...changes },
    {
      baseUrl: BASE_URL,
      site: SITE_TEXTS,
      sources: SOURCES,
      listings: LISTINGS,
      tasks: TASKS,
      demand: DEMAND,
    },
  )
}
