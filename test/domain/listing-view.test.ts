import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { toLiveListing } from '../../src/build/listing-files.ts'
import { LiveListingSchema } from '../../src/domain/listing/listing-states.ts'
import {
  ListingViewSchema,
  PreparedSummarySchema,
  toListingView,
  toPreparedSummary,
  toSignalsView,
} from '../../src/domain/views/listing-view.ts'
import { BASE_URL, SAMPLE_FACTS, toListing, toMeasured, VIEW_CONTEXT } from './listing-samples.ts'

const ID = 'x402.example-weather'
const evidence = { measured: toMeasured(), signals: { status: 'online', p95_ms: 310 } }
const discovery = { openapi: 'https://api.weather.example/openapi.json' }

describe('a listing in a search result', () => {
  test('has the fields of the specification', () => {
    const summary = toPreparedSummary(toListing(), BASE_URL)
    expect(v.parse(PreparedSummarySchema, summary)).toEqual(summary)
    expect(summary).toEqual({
      id: ID,
      name: 'Example Weather',
      kind: 'http_api',
      status: 'unclaimed',
      summary: 'Current weather for a place.',
      url: 'https://api.weather.example/now',
      categories: ['data_weather'],
      pricing: SAMPLE_FACTS.pricing,
      trust: { score: null, evidence: 'no_payment_data' },
      invoke: [],
      sources: ['mcp_registry'],
      badges: ['unclaimed'],
      tiers: expect.objectContaining({ badge_svg: `${BASE_URL}/badge/${ID}.svg` }),
      buy: 'relay_x402',
      links: {
        listing: `/api/v1/listings/${ID}`,
        page: `/listing/${ID}`,
        badge_svg: `/badge/${ID}.svg`,
        kit_manifest: `/api/v1/listings/${ID}/kit.json`,
        call: `/api/v1/call/${ID}`,
      },
    })
  })

  test('has a call link only where the relay takes it', () => {
    const closed = toPreparedSummary(toListing({ facts: { closed: true } }), BASE_URL)
    expect(closed.buy).toBe('link_out')
    expect(closed.links).not.toHaveProperty('call')
  })

  test('has discovery files only where there are any', () => {
    expect(toPreparedSummary(toListing(), BASE_URL)).not.toHaveProperty('discovery')
    expect(toPreparedSummary(toListing({ facts: { discovery } }), BASE_URL)).toMatchObject({
      discovery,
    })
  })

  test.each([
    ['its evidence is used', { measured: toMeasured() }, ['mcp_registry', 'x402-list']],
    [
      'it measured no usage',
      { measured: toMeasured({ settlements_30d: 0 }) },
      ['mcp_registry', 'x402-list'],
    ],
    ['nothing was measured', { signals: { p95_ms: 3 } }, ['mcp_registry']],
    [
      'we verified it ourselves',
      { measured: toMeasured({ source: 'service_verified' }) },
      ['mcp_registry'],
    ],
    [
      'it is the listing’s source already',
      { measured: toMeasured({ source: 'mcp_registry' }) },
      ['mcp_registry'],
    ],
  ])('names the measured provider as a source where %s', (_, found, sources) => {
    expect(toPreparedSummary(toListing({ evidence: found }), BASE_URL).sources).toEqual(sources)
  })
})

describe('the full listing', () => {
  const view = toListingView(toListing({ evidence }), VIEW_CONTEXT)

  test('has the fields of the specification', () => {
    expect(v.parse(ListingViewSchema, view)).toEqual(view)
    expect(view).toMatchObject({
      id: ID,
      tags: ['weather'],
      sources: [{ source: 'mcp_registry', ref: 'https://registry.example/weather' }],
      status: 'unclaimed',
      first_party: false,
      trust: { score: 38, method: 'hub-trust-v0.1', source: 'Data by X402 List (CC BY)' },
      signals: { x402_list_status: 'online', p95_ms: 310 },
      origin: 'https://api.weather.example',
      attribution: ['MCP Registry', 'Data by X402 List (CC BY)'],
      page: `/listing/${ID}`,
      kit_manifest: `/api/v1/listings/${ID}/kit.json`,
      go: `/go/${ID}?src=api`,
      claim: {
        how: expect.stringContaining(`${BASE_URL}/sellers`),
        opt_out: expect.stringContaining('Remove this listing'),
      },
    })
  })

  test('without evidence still names the method, and nobody’s data', () => {
    const bare = toListingView(toListing(), VIEW_CONTEXT)
    expect(bare.trust).toEqual({
      score: null,
      evidence: 'no_payment_data',
      method: 'hub-trust-v0.1',
    })
    expect(bare.signals).toEqual({})
    expect(bare.attribution).toEqual(['MCP Registry'])
  })

  test('says when the evidence is our own', () => {
    const own = toListing({ ownMeasured: toMeasured({ source: 'service_verified' }) })
    const { trust } = toListingView(own, VIEW_CONTEXT)
    expect(trust).toMatchObject({ source: 'Settlements this directory verified on-chain' })
  })

  test('keeps a source that the table does not know by its id', () => {
    const facts = { sources: [{ source: 'elsewhere', ref: 'https://elsewhere.example/x' }] }
    const { attribution } = toListingView(toListing({ facts }), VIEW_CONTEXT)
    expect(attribution).toEqual(['elsewhere'])
  })
})

describe('how a listing is claimed', () => {
  const claimOf = (url: string) => toListingView(toListing({ facts: { url } }), VIEW_CONTEXT).claim

  test.each([
    [
      'https://api.weather.example/now',
      ['well_known', 'dns_txt', 'contact_email'],
      /weather\.example/,
    ],
    ['https://github.com/acme/tides', ['oidc'], /workflow of the repository acme\/tides/],
    ['https://acme.github.io/tides/', ['well_known', 'oidc'], /acme\/tides/],
    ['https://www.npmjs.com/package/tides', [], /cannot be claimed.*npmjs\.com.*many publishers/],
  ])('%s: by %j', (url, methods, how) => {
    expect(claimOf(url)).toMatchObject({ methods, how: expect.stringMatching(how) })
  })

  test('says nothing of a file, a DNS record or a mailbox where they are refused', () => {
    expect(claimOf('https://github.com/acme/tides').how).not.toMatch(/well-known|DNS|email/)
  })
})

describe('signals', () => {
  test.each([
    [{}, 'x402-list', {}],
    [
      { status: 'online', verified: true },
      'x402-list',
      { x402_list_status: 'online', x402_list_verified: true },
    ],
    [{ status: 'online' }, 'a-b-c', { a_b_c_status: 'online' }],
    [{ uptime_24h: 0, uptime_30d: 99.9 }, 'x402-list', { uptime_24h: 0, uptime_30d: 99.9 }],
    [{ verified: false, endpoint_count: 0 }, 'x', { x_verified: false, endpoint_count: 0 }],
  ])('%j of %s stand as %j', (signals, source, wire) => {
    expect(toSignalsView(signals, source)).toEqual(wire)
  })
})

describe('what the live functions know', () => {
  test('is enough for a call, a click and a claim, and no more', () => {
    const http = ['GET', 'POST', 'GET'].map((method, i) => ({
      method,
      url: `https://api.weather.example/${i}`,
    }))
    const live = toLiveListing(toListing({ facts: { http } }))
    expect(v.parse(LiveListingSchema, live)).toEqual(live)
    expect(live).toMatchObject({ methods: ['GET', 'POST'], not_relayable_reason: null, payout: [] })
  })

  test('says why the relay does not take a listing', () => {
    expect(toLiveListing(toListing({ facts: { closed: true } }))).toMatchObject({
      buy: 'link_out',
      not_relayable_reason: 'The seller has closed this listing to the relay.',
    })
  })
})
