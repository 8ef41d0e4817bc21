import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { attributionOf } from '../../src/domain/derived/tables.ts'
import { VOUCHING } from '../../src/domain/trust/score-listings.ts'
import { WASH_FLAGS } from '../../src/domain/trust/wash.ts'
import {
  BusinessModelSchema,
  CategoriesSchema,
  isKnownEndpoint,
  MarketReportsSchema,
  RoadmapSchema,
  SourcesSchema,
  StatsSchema,
  toBusinessModelView,
  toCategoriesView,
  toMarketReportsView,
  toRoadmapView,
  toSourcesView,
  toStatsView,
} from '../../src/domain/views/reference-views.ts'
import { TrustMethodSchema, toTrustMethodView } from '../../src/domain/views/trust-view.ts'
import { ROUTES } from '../../src/domain/wire/routes.ts'
import { SAMPLE_FACTS, SOURCES, toListing, toMeasured, toSold } from './listing-samples.ts'
import { SITE_TEXTS } from './site-samples.ts'

const LEDGER = {
  as_of: '2026-11-01T00:00:00.000Z',
  payments: 2,
  ndjson: { url: '/api/v1/trust/payments.ndjson', bytes: 5, sha256: 'c' },
  gz: { url: '/api/v1/trust/payments.ndjson.gz', bytes: 3, sha256: 'd' },
  payees: { url: '/api/v1/trust/payees.json', bytes: 4, sha256: 'e' },
}
const DUMP = {
  ndjson: { url: '/api/v1/listings.ndjson', bytes: 5, sha256: 'a' },
  gz: { url: '/api/v1/listings.ndjson.gz', bytes: 3, sha256: 'b' },
}

const KIT = { kind: 'kit', first_party: true, pricing: { model: 'unknown' } }
const LISTINGS = [
  toSold('x402.a', 12, { added: '2026-01-02' }),
  toSold('x402.b', 0, priced(0.03, 'x402', 'mpp')),
  toListing({ id: 'x402.c', facts: priced(0.02, 'mpp') }),
  toListing({ id: 'mcp.d', facts: { kind: 'mcp_server', pricing: { model: 'unknown' } } }),
  toSold('kit.e', 90, { ...KIT, categories: ['travel', 'data_weather'] }),
]

const CONTEXT = {
  sources: SOURCES,
  rowDays: new Map([
    ['x402.a', { seeds: ['2026-11-24', '2026-11-22'], prices: ['2026-11-22'] }],
    ['x402.b', { seeds: ['2026-11-22'], prices: [] }],
    ['x402.c', { seeds: ['2026-11-20'], prices: [] }],
  ]),
}
const UNTOLD = { sources: SOURCES, rowDays: new Map() }
/** Of the listings themselves. */
const DAYS = { listing: '2026-11-20', payments: '2026-11-01', probe: null, reported_use: null }

describe('stats', () => {
  test('count every listing, ours too', () => {
    const view = toStatsView(LISTINGS, DUMP, LEDGER, CONTEXT)
    expect(v.parse(StatsSchema, view)).toEqual(view)
    expect(view).toEqual({
      listings: {
        total: 5,
        first_party: 1,
        by_kind: { http_api: 3, kit: 1, mcp_server: 1 },
        by_category: { data_weather: 5, travel: 1 },
        by_rail: { mpp: 2, x402: 2 },
        by_source: { mcp_registry: 5, 'x402-list': 3 },
        by_status: { unclaimed: 5 },
        relayable: 2,
        with_trust: 2,
      },
      quality: expect.arrayContaining([expect.objectContaining({ kind: 'http_api', listings: 3 })]),
      dump: {
        ...DUMP,
        licenses: ['mcp_registry', 'x402-list'].map((source) => ({
          source,
          license: SOURCES.get(source)?.license,
          attribution: attributionOf(SOURCES, source),
          listings: source === 'mcp_registry' ? 5 : 3,
        })),
      },
      trust_ledger: LEDGER,
      updated: '2026-11-24',
      newest: { ...DAYS, seed: '2026-11-24', price: '2026-11-22' },
      median: { ...DAYS, seed: '2026-11-22', price: '2026-11-22' },
    })
  })

  test('are as new as the newest fact: a listing, or a measurement', () => {
    const old = { added: '2026-01-02' }
    expect(toStatsView([toListing({ facts: old })], DUMP, LEDGER, UNTOLD).updated).toBe(
      '2026-01-02',
    )
    expect(toStatsView([toSold('x402.a', 1, old)], DUMP, LEDGER, UNTOLD).updated).toBe('2026-11-01')
    expect(toStatsView([], DUMP, LEDGER, UNTOLD).updated).toBe('1970-01-01')
  })

  test('have the same bytes whatever the order of the content', () => {
    expect(JSON.stringify(toStatsView(LISTINGS.toReversed(), DUMP, LEDGER, CONTEXT))).toBe(
      JSON.stringify(toStatsView(LISTINGS, DUMP, LEDGER, CONTEXT)),
    )
  })
})

describe('categories and sources', () => {
  test('say how many listings each has, none included', () => {
    const rows = ['data_weather', 'travel', 'empty'].map((id) => ({
      id,
      name: id,
      description: 'x',
    }))
    const view = toCategoriesView(rows, LISTINGS)
    expect(v.parse(CategoriesSchema, view)).toEqual(view)
    expect(view.categories.map(({ listings }) => listings)).toEqual([5, 1, 0])
    expect(view.categories[0]).toEqual({
      id: 'data_weather',
      name: 'data_weather',
      description: 'x',
      listings: 5,
      page: '/category/data_weather',
    })
  })

  test('a provider’s evidence makes it a source', () => {
    const view = toSourcesView([...SOURCES.values()], LISTINGS)
    expect(v.parse(SourcesSchema, view)).toEqual(view)
    expect(view.sources.map(({ id, listings }) => [id, listings])).toEqual([
      ['mcp_registry', 5],
      ['x402-list', 3],
    ])
  })
})

describe('market reports', () => {
  test('preview prices by category and rail, without our own kits', () => {
    const view = toMarketReportsView(LISTINGS)
    expect(v.parse(MarketReportsSchema, view)).toEqual(view)
    expect(view).toEqual({
      preview: {
        prices: [
          { category: 'data_weather', rail: 'mpp', listings: 2 },
          { category: 'data_weather', rail: 'x402', listings: 2 },
        ],
        measurements: [],
        paid_listings: 3,
        priced_listings: 3,
        measured: { listings: 2, settlements_30d: 680, volume_usd_30d: 25 },
      },
      paid: { status: 'stub', note: expect.any(String) },
    })
  })

  test.each([
    [[0.01], undefined],
    [[5, 0, 1, 100], undefined],
    [[0.05, 0.03, 0.01, 0.02, 0.04], 0.03],
    [[0.1, 0.2, 0.1, 0.3, 0.2, 0.4], 0.2],
    [[0.1, 0.1, 0.1, 0.2, 0.2, 0.2], 0.15],
  ])('the median of %j is %j, and there is none below five', (prices, median) => {
    const listings = prices.map((price, i) =>
      toListing({ id: `x402.l${i}`, facts: priced(price, 'x402') }),
    )
    const [row] = toMarketReportsView(listings).preview.prices
    expect(row?.listings).toBe(prices.length)
    expect(row?.median_min_usd).toBe(median)
  })

  test('add cents without dust', () => {
    const listings = [0.1, 0.2].map((volume_usd_30d, i) =>
      toListing({ id: `x402.l${i}`, evidence: { measured: toMeasured({ volume_usd_30d }) } }),
    )
    expect(toMarketReportsView(listings).preview.measured.volume_usd_30d).toBe(0.3)
  })

  test('of nothing are empty', () => {
    expect(toMarketReportsView([]).preview).toEqual({
      prices: [],
      measurements: [],
      paid_listings: 0,
      priced_listings: 0,
      measured: { listings: 0, settlements_30d: 0, volume_usd_30d: 0 },
    })
  })
})

describe('the roadmap', () => {
  test.each([
    [null, 'planned'],
    ['GET /api/v1/search', 'live'],
    ['GET /api/v1/stats', 'live'],
    ['GET /api/v1/listings/<listing_id>', 'live'],
    ['GET /api/v1/listings/{listing_id}/kit.json', 'live'],
    ['ALL /api/v1/call/:id', 'live'],
    ['DELETE /api/v1/call/<listing_id>', 'live'],
    ['GET /go/<listing_id>', 'live'],
    ['GET /badges', 'live'],
    ['GET /api/v1/sponsored', 'stub'],
    ['POST /api/v1/sellers/verify', 'stub'],
    ['POST /api/v1/tools/kit-builder', 'stub'],
    ['GET /api/v1/buyers/account', 'stub'],
    ['POST /api/v1/search', 'planned'],
    ['GET /api/v1/sellers/verify', 'planned'],
    ['GET /api/v1/teleport', 'planned'],
    ['POST /badges', 'planned'],
    ['GET /badge/<listing_id>.svg', 'live'],
    ['GET /listing/<listing_id>', 'live'],
    ['GET /teleport', 'planned'],
    ['GET /badges/<listing_id>', 'planned'],
    ['GET /badge/<listing_id>', 'planned'],
    ['GET /constructor', 'planned'],
    ['/badges', 'planned'],
  ])('%s is %s, because the routes say so', (endpoint, status) => {
    const view = toRoadmapView([{ id: 'a', name: 'A', endpoint, note: 'x' }])
    expect(v.parse(RoadmapSchema, view)).toEqual(view)
    expect(view.features).toEqual([{ id: 'a', name: 'A', endpoint, note: 'x', status }])
    if (endpoint !== null) expect(isKnownEndpoint(endpoint)).toBe(status !== 'planned')
  })

  test('knows every route', () => {
    for (const { methods, path } of Object.values(ROUTES))
      for (const method of methods) expect(isKnownEndpoint(`${method} ${path}`)).toBe(true)
  })
})

describe('the business model', () => {
  test('states the money facts whatever the table says', () => {
    const view = toBusinessModelView(SITE_TEXTS)
    expect(v.parse(BusinessModelSchema, view)).toEqual(view)
    expect(view).toMatchObject({
      ...SITE_TEXTS.business_model,
      fee_usd: 0,
      custody: 'none',
      in_transaction_path: false,
      sponsored_placements: false,
    })
  })
})

describe('the trust method', () => {
  const independentOperators = [
    { domain: 'shop.example', name: 'Shop', why: 'Known to everybody.' },
  ]
  const viewOf = (measured: number) => toTrustMethodView({ independentOperators }, measured)
  const view = viewOf(0)

  test('publishes who vouches for buyers, and what cheating costs', () => {
    expect(view.vouching).toMatchObject({
      usd_a_listing: VOUCHING.microsAListing / 1_000_000,
      needed: 3,
      measured: 0,
      independent_operators: independentOperators,
    })
    expect(view.cost_of_cheating).toMatchObject({ score: 60, usd: 5 })
    expect(view.cost_of_cheating.sentences).toHaveLength(3)
    expect(view.not_seen.map(({ id }) => id)).toContain('stripe')
  })

  test('says first what is true today; with fewer than three sellers measured, that inventing is cheap', () => {
    for (const measured of [0, 1, 2])
      expect(viewOf(measured).in_short[0]).toContain('invented buyers cost under a cent')
    expect(viewOf(3).in_short[0]).toContain('for a score of 60 costs $5 or more per listing')
  })

  test('is `hub-trust-v0.1`, number by number', () => {
    expect(v.parse(TrustMethodSchema, view)).toEqual(view)
    expect(view.method).toBe('hub-trust-v0.1')
    expect(view.constants).toEqual({
      window_days: 30,
      weights: { buyers: 0.6, settlements: 0.25, volume: 0.15 },
      saturation: { buyers: 100, settlements: 1000, volume_usd: 1000 },
      concentration_penalty: 0.5,
      recency: { fresh_days: 7, floor: 0.5 },
      shrink_buyers: 3,
      a_payer: { settlements: 10, volume_usd: 10 },
      sample_gate: { buyers: 3, settlements: 5 },
      live_tested: { probes: 3, span_hours: 24 },
      wash: {
        round_trip_share: 0.85,
        hop_days: 30,
        burst: { payers: 10, share: 0.7, minutes: 30, funder_share: 0.5 },
      },
    })
  })

  test('explains every kind of evidence and every exclusion of the method', () => {
    expect(view.evidence.map(({ id }) => id)).toEqual([
      'verified_non_wash_payments',
      'no_payment_data',
      'no_independent_paid_usage_30d',
    ])
    expect(view.excluded.map(({ flag }) => flag)).toEqual([...WASH_FLAGS])
    expect(view.excluded.map(({ rule }) => rule).join('\n')).toMatch(
      /85 % of what was paid[\s\S]*10 or more payers whose first payments are equal[\s\S]*70 % of them within 30 minutes/,
    )
  })
})

function priced(usd: number, ...rails: string[]) {
  return { pricing: { ...SAMPLE_FACTS.pricing, min_usd: usd, max_usd: 200, rails } }
}
