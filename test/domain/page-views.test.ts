import { describe, expect, test } from 'vitest'
import { toHomeFacts } from '../../src/build/listing-files.ts'
import { toIndexFacets } from '../../src/build/page-search.ts'
import { toSignalWords, toTrustWords } from '../../src/components/evidence/evidence-words.ts'
import { toHomeLists } from '../../src/components/home/home-lists.ts'
import { toListingStructuredData } from '../../src/components/listing/listing-page.ts'
import { compareListings, toListingRow, toPlace } from '../../src/components/rows/listing-row.ts'
import { toOrders } from '../../src/components/rows/listing-tables.ts'
import { compareRows, toCompareRow } from '../../src/domain/compare/compare-view.ts'
import { judgeTrust, scoreTrust } from '../../src/domain/trust/trust.ts'
import { toListingBrief, toListingView } from '../../src/domain/views/listing-view.ts'
import { toTrustExamples, toTrustView } from '../../src/domain/views/trust-view.ts'
import { toScriptJson } from '../../src/domain/wire/escape.ts'
import { present } from '../../src/domain/wire/json.ts'
import {
  BASE_URL,
  SAMPLE_FACTS,
  SOURCES,
  toListing,
  toMeasured,
  toSold,
  VIEW_CONTEXT,
} from './listing-samples.ts'

const KIT = { kind: 'kit', first_party: true, pricing: { model: 'unknown' } }
const UNPRICED = { pricing: { model: 'unknown' } }
const FREE = { ...UNPRICED, cost: 'free' }
const LOCAL = {
  ...UNPRICED,
  kind: 'mcp_server',
  invoke: [
    { kind: 'mcp_package', transport: 'stdio', registry: 'npm', identifier: '@example/weather' },
  ],
}

const ALL = { payments: true, trust: true }

describe('lists of listings', () => {
  test('stand in the order of comparison pages, our own kits last', () => {
    const listings = [
      toSold('x402.few', 5),
      toSold('x402.many', 50),
      toListing({ id: 'x402.dear', facts: priced(2, 3) }),
      toListing({ id: 'x402.cheap', facts: priced(0.001, 3) }),
      toListing({ id: 'api.unpriced', facts: UNPRICED }),
      toListing({ id: 'mcp.local', facts: { ...UNPRICED, kind: 'mcp_server' } }),
    ]
    const rows = listings.map((each) => toView(each))
    const ours = toView(toSold('kit.ours', 99, KIT))
    const expected = listings.map((each) => toCompareRow(each, SOURCES)).sort(compareRows)
    expect([ours, ...rows].sort(compareListings).map(({ id }) => id)).toEqual([
      ...expected.map(({ id }) => id),
      'kit.ours',
    ])
  })

  test('have what does a known task before its like', () => {
    const tasks = [{ id: 'weather', name: 'Weather', words: [] }]
    const doing = toListing({ id: 'mcp.b', facts: { ...LOCAL, tasks: ['weather'] }, tasks })
    const rows = [toListing({ id: 'mcp.a', facts: LOCAL }), doing].map((each) => toView(each))
    expect(rows.sort(compareListings).map(({ id }) => id)).toEqual(['mcp.b', 'mcp.a'])
  })

  test('say where a sample is small and where nothing is known', () => {
    expect(toListingRow(toView(toSold('x402.two', 2)), ALL)).toMatchObject({
      trust_note: 'low sample, nobody vouches for its buyers',
    })
    expect(toListingRow(toView(toListing({ facts: UNPRICED })), ALL)).toMatchObject({
      trust: null,
      price: null,
      rails: [],
      trust_note: '',
    })
  })

  test('show what is free as free, at a price of 0, and what runs on one’s own machine as that', () => {
    const free = toListing({ id: 'api.free', facts: FREE })
    const local = toListing({ id: 'mcp.local', facts: LOCAL })
    const costOf = (listing: typeof free) => toListingRow(toView(listing), ALL).cost
    expect(costOf(free)).toBe('free')
    expect(costOf(local)).toBe('free to run')
    const keyed = toListing({ facts: { ...LOCAL, auth: { type: 'api_key' } } })
    expect(costOf(keyed)).toBe('your own account')
    expect(toPlace(toView(local))).toBe('locally')
    const others = [
      toListing({ id: 'api.dear', facts: priced(0.5, 1) }),
      toListing({ facts: UNPRICED }),
    ]
    const rows = [...others, free, local].map((each) => toView(each)).sort(compareListings)
    expect(rows.map(({ id }) => id)).toEqual(['api.free', 'api.dear', others[1]?.id, 'mcp.local'])
    // A comparison's rows keep the order of the specification: of listed prices alone.
    const compared = [free, ...others].map((each) => toCompareRow(each, SOURCES)).sort(compareRows)
    expect(compared.map(({ id }) => id)).toEqual(['api.dear', 'api.free', others[1]?.id])
    expect(compared[1]).toMatchObject({ price: 'free', min_usd: null })
  })

  test('by use is offered only where somebody counted use', () => {
    const { paid: _, ...brief } = toAdded(toSold('x402.sold', 1)).brief
    const textsOf = (paid: string | undefined) =>
      toOrders([{ brief: { ...brief, ...present({ paid }) } }], true).map(({ text }) => text)
    expect(textsOf(undefined)).toEqual(['Price', 'Newest'])
    expect(textsOf('4–20 Jul 2026: 7 settlements')).toEqual(['Price', 'Most paid', 'Newest'])
  })

  const toAdded = (listing: ReturnType<typeof toListing>) => {
    const history = { probes: [], days: [], drift: [], payments: [], seen: null }
    const { added } = listing.facts
    const home = toHomeFacts(toView(listing), history)
    return { brief: toListingBrief(listing, SOURCES), home, added }
  }

  test('of the home page keep our own kits apart', () => {
    const listings = [
      toAdded(toSold('x402.few', 5)),
      toAdded(toListing({ id: 'x402.new' })),
      toAdded(toSold('kit.ours', 99, KIT)),
      toAdded(toSold('x402.many', 50)),
    ]
    const lists = toHomeLists(listings, 2)
    expect(lists.trusted.map(({ id }) => id)).toEqual(['x402.many', 'x402.few'])
    const ids = [...lists.known, ...lists.lately].map(({ page }) => page)
    expect(ids).not.toContain('/listing/kit.ours')
    expect(lists.firstParty.map(({ id }) => id)).toEqual(['kit.ours'])
  })

  test('of changes have the last of each listing, or all', () => {
    const toChange = (at: string, is: string) =>
      ({ at, what: 'price', name: 'GET /', was: '$1', is, of: 'look' }) as const
    const listed = toAdded(toListing({ id: 'x402.changed' }))
    const drift = [toChange('2026-11-09T00:00:00Z', '$3'), toChange('2026-11-01T00:00:00Z', '$2')]
    const changed = { ...listed, home: { ...listed.home, drift } }
    const daysOf = (ofEach?: number) =>
      toHomeLists([changed], 20, ofEach).changed.map(({ at }) => at.slice(0, 10))
    expect(daysOf()).toEqual(['2026-11-09'])
    expect(daysOf(20)).toEqual(['2026-11-09', '2026-11-01'])
  })
})

test('filters of the index in the browser are in words', () => {
  expect(toIndexFacets(toView(toListing({ facts: UNPRICED })))).toEqual({
    ...{ kind: ['HTTP API'], category: ['data weather'], runs: ['hosted'], auth: ['not declared'] },
  })
  expect(toIndexFacets(toView(toListing({ facts: priced(0.05, 0.4) }))).price).toEqual([
    'up to $0.10',
    'up to $1',
  ])
})

describe('words', () => {
  test('of signals: known ones in a fixed order with their units, the provider’s own last', () => {
    expect(
      toSignalWords({
        x402_list_verified: true,
        p95_ms: 310,
        x402_list_status: 'online',
        uptime_24h: 100,
      }),
    ).toEqual([
      ['Uptime, 24 hours', '100 %'],
      ['95 % answered within', '310 ms'],
      ['Verified (x402-list)', 'yes'],
      ['Status (x402-list)', 'online'],
    ])
  })

  test.each([
    [undefined, 'No payment evidence yet', [], []],
    [toMeasured({ verified_buyers_30d: 0 }), 'No independent buyers in 30 days', ['0'], []],
    [
      toMeasured({ wash_flags: [{ flag: 'round_trip', settlements: 4, note: 'one wallet' }] }),
      '12 buyers, real or invented',
      ['12'],
      ['4 settlements left out as round trip: one wallet'],
    ],
    [
      toMeasured({ wash_flags: [{ flag: 'self_payment', settlements: 1 }] }),
      '12 buyers, real or invented',
      ['12'],
      ['1 settlement left out as self payment'],
    ],
    [
      toMeasured({ watch: [{ id: 'new_seller', note: 'Since last week.' }] }),
      '12 buyers, real or invented',
      ['12'],
      ['Watched (new seller): Since last week.'],
    ],
  ])('of trust: %j', (measured, headline, buyers, notes) => {
    const words = toTrustWords(toTrustView(judgeTrust(measured, 1, '2026-11-01'), 'Data by X'))
    expect(words).toMatchObject({ headline, notes })
    expect(words.numbers.slice(0, 1)).toEqual(buyers.map((text) => ['Counted buyers', text]))
  })

  test('of the method’s examples are computed by the method', () => {
    const examples = toTrustExamples()
    for (const { input, score } of examples) expect(score).toBe(scoreTrust(input))
    expect(new Set(examples.map(({ title }) => title)).size).toBe(examples.length)
  })
})

describe('structured data', () => {
  test('names the price where there is one', () => {
    const data = toListingStructuredData(toView(toListing()), BASE_URL)
    expect(data).toMatchObject({
      '@type': 'WebAPI',
      '@id': `${BASE_URL}/listing/x402.example-weather`,
      sameAs: 'https://api.weather.example/now',
      offers: { priceCurrency: 'USD', lowPrice: 0.01, highPrice: 0.05 },
    })
    expect(
      toListingStructuredData(toView(toListing({ facts: UNPRICED })), BASE_URL),
    ).not.toHaveProperty('offers')
  })

  test.each(['</script>', '<!--', ']]>', '\u2028', '&amp;'])('holds %j without harm', (name) => {
    const json = toScriptJson({ name })
    expect(json).not.toMatch(/[<>&\u2028\u2029]/)
    expect(JSON.parse(json)).toEqual({ name })
  })
})

function toView(listing: ReturnType<typeof toListing>) {
  return toListingView(listing, VIEW_CONTEXT)
}

function priced(min_usd: number, max_usd: number) {
  return { pricing: { ...SAMPLE_FACTS.pricing, min_usd, max_usd } }
}
