import { describe, expect, test } from 'vitest'
import { toStripFacts } from '../../src/components/rows/decision-facts.ts'
import { trustScoreOf, verifiedBuyersOf } from '../../src/domain/derived/derived-listing.ts'
import { toKnownSentence } from '../../src/domain/views/known-view.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { hasRemoteEndpoint } from '../../src/domain/wire/vocabulary.ts'
import { LIVE_PROBES, toFacts, toListing, toMeasured, VIEW_CONTEXT } from './listing-samples.ts'

const REMOTE = { kind: 'mcp', transport: 'sse', url: 'https://mcp.weather.example/sse' }
const PACKAGE = { kind: 'mcp_package', transport: 'stdio', registry: 'npm', identifier: 'weather' }

describe('what follows from facts and evidence', () => {
  test('without evidence: unclaimed, no score, nothing earned', () => {
    expect(toListing()).toMatchObject({
      status: 'unclaimed',
      trust: { evidence: 'no_payment_data' },
      isLiveTested: false,
      badges: ['unclaimed'],
      tiers: { tier: null, earned: [] },
      buy: { buy: 'relay_x402', reason: null },
      signals: {},
      signalsSource: 'x402-list',
    })
  })

  test('with everything: claimed, scored, tested, trusted', () => {
    const listing = toListing({
      isClaimed: true,
      evidence: {
        measured: toMeasured({ source: 'other-meter' }),
        signals: { status: 'online' },
        probes: LIVE_PROBES,
      },
      ownMeasured: toMeasured({ source: 'service_verified', unknown_buyers_30d: 0 }),
    })
    expect(listing).toMatchObject({
      status: 'claimed',
      trust: { score: 38 },
      isLiveTested: true,
      badges: ['domain_verified', 'paid_usage_verified', 'live_tested'],
      tiers: { tier: 'trusted', earned: ['live_tested', 'verified', 'trusted'], not_yet: [] },
      signalsSource: 'other-meter',
    })
  })

  test('signals of our own probes stand where no provider gives any, under our own name', () => {
    const measured = toMeasured({ source: 'other-meter' })
    expect(toListing({ evidence: { measured, probes: LIVE_PROBES } })).toMatchObject({
      signals: { status: 'online', uptime_30d: 100 },
      signalsSource: 'service_verified',
    })
  })

  test('a package that ran once is not a service that answers', () => {
    const package_run = {
      at: '2026-11-22T20:39:26Z',
      version: '1.4.2',
      outcome: 'runs_as_declared',
    } as const
    const facts = { kind: 'mcp_server', pricing: { model: 'unknown' }, invoke: [PACKAGE] }
    const listing = toListing({ id: 'mcp.weather', facts, evidence: { package_run } })
    expect(listing).toMatchObject({ signals: {}, isLiveTested: false, badges: ['unclaimed'] })
    const view = toListingView(listing, VIEW_CONTEXT)
    expect(view).toMatchObject({ signals: {}, package_run })
    const page = `${JSON.stringify(toStripFacts(view, []))}${toKnownSentence(view.known)}`
    expect(page).toContain('Runs as declared')
    expect(page).toContain('its package ran as declared on 22 November 2026, in our sandbox')
    expect(page).toContain('1.4.2, 22 November 2026')
    expect(page).not.toMatch(/online|spoke|no probe so far|no result yet/i)
  })

  test('a package that could not be fetched is not one without a result', () => {
    const why = 'the package could not be fetched: E404 404 Not Found'
    const package_run = { at: '2026-11-22T20:39:26Z', outcome: 'unknown', why } as const
    const facts = { kind: 'mcp_server', pricing: { model: 'unknown' }, invoke: [PACKAGE] }
    const listing = toListing({ id: 'mcp.weather', facts, evidence: { package_run } })
    const view = toListingView(listing, VIEW_CONTEXT)
    const page = `${JSON.stringify(toStripFacts(view, []))}${toKnownSentence(view.known)}`
    expect(page).toContain('Could not be fetched')
    expect(page).toContain('its package could not be fetched in our sandbox on 22 November 2026')
  })

  test('a payout that two listings publish halves what is counted', () => {
    const evidence = { measured: toMeasured() }
    expect(toListing({ evidence, sharers: 2 }).trust).toMatchObject({ score: 36 })
  })
})

describe('the provider’s evidence and our own', () => {
  const own = (buyers: number) =>
    toMeasured({ source: 'service_verified', verified_buyers_30d: buyers })
  test.each([
    ['ours alone', undefined, own(12), 'service_verified'],
    ['the provider’s alone', toMeasured(), undefined, 'x402-list'],
    ['ours proves more', toMeasured(), own(40), 'service_verified'],
    ['ours proves less', toMeasured(), own(3), 'service_verified'],
    ['ours alone has sales', toMeasured({ verified_buyers_30d: 0 }), own(1), 'service_verified'],
    ['ours has no sale, the provider measured none', undefined, own(0), 'service_verified'],
  ])('%s', (_, measured, ownMeasured, source) => {
    const listing = toListing({
      evidence: measured === undefined ? {} : { measured },
      ...(ownMeasured && { ownMeasured }),
    })
    expect(listing.trust).toMatchObject({ measured: { source } })
  })

  test('are never added up', () => {
    const { trust } = toListing({ evidence: { measured: toMeasured() }, ownMeasured: own(12) })
    expect(trust).toMatchObject({ score: 38, measured: { settlements_30d: 340 } })
  })
})

describe('our own address', () => {
  const firstParty = {
    kind: 'kit',
    first_party: true,
    url: '{base_url}/docs',
    pricing: { model: 'unknown' },
    sources: [{ source: 'mcp_registry', ref: '{base_url}/sources' }],
  }
  test('is filled in for first-party listings', () => {
    const { facts, description } = toListing({
      facts: firstParty,
      description: 'GET {base_url}/a and {base_url}/b',
    })
    expect(facts.url).toBe('https://directory.example/docs')
    expect(facts.sources[0]?.ref).toBe('https://directory.example/sources')
    expect(description).toBe('GET https://directory.example/a and https://directory.example/b')
  })

  test('is not put into the templates of other people', () => {
    expect(toListing({ description: 'GET {base_url}/a' }).description).toBe('GET {base_url}/a')
  })
})

describe('a remote endpoint', () => {
  test.each([
    ['http_api', [], true],
    ['a2a_agent', [], true],
    ['kit', [], false],
    ['mcp_server', [], false],
    ['mcp_server', [PACKAGE], false],
    ['mcp_server', [PACKAGE, REMOTE], true],
  ])('of a %s with %j: %s', (kind, invoke, expected) => {
    expect(hasRemoteEndpoint(toFacts({ kind, invoke }))).toBe(expected)
  })
})

describe('for ranking', () => {
  test.each([
    ['no data', undefined, null, 0],
    ['no usage', toMeasured({ settlements_30d: 0 }), null, 12],
    ['verified payments', toMeasured(), 38, 12],
  ])('%s', (_, measured, score, buyers) => {
    const { trust } = toListing({ evidence: measured === undefined ? {} : { measured } })
    expect(trustScoreOf(trust)).toBe(score)
    expect(verifiedBuyersOf(trust)).toBe(buyers)
  })
})
