import { describe, expect, test } from 'vitest'
import { parsePage } from '../../../seeds/fetch/read-source.ts'
import { x402List } from '../../../seeds/sources/x402-list.ts'
import { readContent } from '../../../src/content/read.ts'
import { contentForEachTest } from '../content-fixture.ts'

const TRACTION = {
  status: 'measured',
  volume_usd_30d: 12.5,
  tx_count_30d: 340,
  unique_buyers_30d: 12,
  last_settlement_at: '2026-11-19T21:00:00Z',
  top_buyer_share_30d: 0.4,
  shared_payout: false,
}
const service = (slug: string, change: object = {}, traction: object | null = TRACTION) => ({
  slug,
  name: 'Harbour Tides',
  description: 'Tides of harbours.',
  base_url: `https://${slug}.example`,
  status: 'online',
  verified: true,
  endpoint_count: 3,
  min_price_usd: 0.01,
  networks_caip2: ['eip155:8453'],
  uptime_24h: 100,
  last_checked_at: '2026-11-20T00:00:00Z',
  created_at: '2026-02-03T10:00:00Z',
  assessment: {
    compliance_grade: 'A',
    reliability_uptime_30d: 99.9,
    response_p95_ms: 310.4,
    price_usd: 0.01,
    price_max_usd: 0.05,
    risk_level: 'clean',
    traction,
  },
  ...change,
})

const content = contentForEachTest()

const seed = (rows: readonly unknown[], more: object = {}) =>
  content.seed({ importer: 'x402-list', from: content.save(rows), ...more })
const evidenceOf = (slug: string): unknown => content.evidence(`listings/x402/${slug}.example.md`)

describe('x402-list', () => {
  test('a service becomes a listing, its measurements evidence that the check accepts', async () => {
    await seed([service('tides')])
    const fields = content.fields('listings/x402/tides.example.md')
    expect(fields?.get('added')).toBe('2026-02-03')
    expect(fields?.get('pricing')).toMatchObject({ min_usd: 0.01, max_usd: 0.05, rails: ['x402'] })
    expect(evidenceOf('tides')).toEqual({
      measured: {
        source: 'x402-list',
        as_of: '2026-11-20T00:00:00Z',
        verified_buyers_30d: 12,
        settlements_30d: 340,
        volume_usd_30d: 12.5,
        top_buyer_share_30d: 0.4,
        last_settlement_at: '2026-11-19T21:00:00Z',
        shared_payout: false,
        wash_flags: [],
        watch: [],
      },
      signals: {
        as_of: '2026-11-20T00:00:00Z',
        status: 'online',
        verified: true,
        uptime_24h: 100,
        uptime_30d: 99.9,
        p95_ms: 310,
        compliance_grade: 'A',
        risk_level: 'clean',
        endpoint_count: 3,
      },
    })
    const { faults } = readContent(content.contentDir, { allowPrivate: false })
    expect(
      faults.filter(({ file, severity }) => severity === 'error' && /x402/.test(file)),
    ).toEqual([])
  })

  test('what was not measured is absent, not zero', async () => {
    await seed([service('new', { uptime_24h: null }, { status: 'no-payto', volume_usd_30d: null })])
    expect(evidenceOf('new')).not.toHaveProperty('measured')
    expect(evidenceOf('new')).not.toHaveProperty('signals.uptime_24h')
  })

  test('figures that can’t be true are left out', async () => {
    await seed([service('odd', { uptime_24h: 250 }, { ...TRACTION, top_buyer_share_30d: 4 })])
    expect(evidenceOf('odd')).not.toHaveProperty('measured')
    expect(evidenceOf('odd')).not.toHaveProperty('signals.uptime_24h')
  })

  test('what others measured stands beside it', async () => {
    await seed([service('tides')])
    await content.accept()
    const probes = [{ at: '2026-11-20T00:00:00Z', protocol: 'x402', outcome: 'spoke' }]
    content.write('evidence/x402/tides.example.json', JSON.stringify({ probes }))
    await seed([service('tides', { uptime_24h: 97 })])
    expect(evidenceOf('tides')).toMatchObject({ probes, signals: { uptime_24h: 97 } })
  })

  test('a service that people list gets its evidence there', async () => {
    content.write(
      'listings/x402/by-hand.md',
      '---\nname: Tides\nkind: http_api\nurl: https://tides.example\nsummary: By hand.\nsources:\n  - { source: vendor_docs, ref: "https://tides.example" }\nadded: 2026-01-01\n---\n',
    )
    await seed([service('tides')])
    expect(content.evidence('listings/x402/by-hand.md')).toHaveProperty('measured')
    expect(content.listing('listings/x402/by-hand.md')).toContain('x402-list')
  })

  test('pages are counted', () => {
    const page = (number: number) =>
      JSON.stringify({ data: [service('a')], meta: { page: number, total_pages: 2 } })
    const start = new URL('https://list.example/api/v1/services?per_page=1&page=1')
    expect(parsePage(page(1), start, x402List).next?.search).toBe('?per_page=1&page=2')
    expect(parsePage(page(2), start, x402List).next).toBeNull()
  })

  test.each([
    ['test_network', service('t', { networks_caip2: ['eip155:84532'] })],
    ['invalid_row', service('t', { base_url: 7 })],
    ['private_url', service('t', { base_url: 'http://localhost:1' })],
  ])('%s is refused', async (reason, bad) => {
    expect((await seed([bad, service('good')])).refused).toMatchObject([{ reason }])
  })
})
