import { describe, expect, test } from 'vitest'
import { countSeeding } from '../../../seeds/commands/seed.ts'
import { parsePage } from '../../../seeds/fetch/read-source.ts'
import { readContent } from '../../../src/content/read.ts'
import { contentForEachTest } from '../content-fixture.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const pay = (change: object = {}) => ({
  scheme: 'exact',
  network: 'eip155:8453',
  asset: USDC,
  amount: '3000',
  payTo: '0x52908400098527886E0F7030069857D2E4169EE7',
  ...change,
})
const row = (resource: string, change: object = {}) => ({ resource, accepts: [pay()], ...change })

const content = contentForEachTest()

const seed = (rows: readonly unknown[], more: object = {}) =>
  content.seed({ importer: 'x402-bazaar', from: content.save(rows), ...more })
const fieldsOf = (host: string) => content.fields(`listings/x402/${host}.md`)
const TIDES = 'https://api.tides.example'

describe('the x402 Bazaar', () => {
  test('endpoints of one origin are one listing, each an operation with its price', async () => {
    const result = await seed([
      row(`${TIDES}/v1/tide`, {
        serviceName: 'Harbour Tides',
        description: 'Tide for a harbour.',
        extensions: {
          bazaar: {
            info: {
              input: { type: 'http', method: 'POST', body: { harbour: 'Aldeburgh' } },
              output: { type: 'json', example: { height: 3.2 } },
            },
          },
        },
      }),
      row('https://www.api.tides.example/v1/moon/:day', { accepts: [pay({ amount: '20000' })] }),
    ])
    const fields = fieldsOf('api.tides.example')
    expect(fields?.get('name')).toBe('Harbour Tides')
    expect(fields?.get('summary')).toBe(
      '2 paid endpoints at api.tides.example: v1/tide, v1/moon/{day}.',
    )
    expect(fields?.get('pricing')).toEqual({
      model: 'per_call',
      min_usd: 0.003,
      max_usd: 0.02,
      rails: ['x402'],
      networks: ['eip155:8453'],
    })
    expect(fields?.get('http')).toMatchObject([
      {
        ...{ method: 'POST', url: `${TIDES}/v1/tide`, body: { example: { harbour: 'Aldeburgh' } } },
        response: { example: { height: 3.2 }, ref: expect.stringContaining('discovery/search') },
      },
      {
        url: expect.stringContaining('/v1/moon/{day}'),
        assumed: ['method'],
        params: [{ name: 'day', in: 'path' }],
      },
    ])
    expect(countSeeding(result).rows).toMatchObject({ added: 1, merged: 1, refused: 0 })
    const { faults } = readContent(content.contentDir, { allowPrivate: false })
    expect(
      faults.filter(({ severity, file }) => severity === 'error' && file.startsWith('listings')),
    ).toEqual([])
  })

  test('payouts of a catalogue are not published payouts: whoever names a victim’s wallet harms nobody', async () => {
    await seed([row(`${TIDES}/a`)])
    expect(content.listing('listings/x402/api.tides.example.md')).not.toMatch(/0x5290/i)
  })

  test('version 1 and version 2 spell the same price', async () => {
    const { amount, ...v1 } = pay()
    await seed([
      row(`${TIDES}/a`, {
        accepts: [
          {
            ...v1,
            network: 'base',
            maxAmountRequired: amount,
            description: 'Said in version 1.',
            outputSchema: { input: { method: 'GET', queryParams: { q: 'sea' } } },
          },
        ],
      }),
    ])
    const fields = fieldsOf('api.tides.example')
    expect(fields?.get('summary')).toBe('Said in version 1.')
    expect(fields?.get('http')).toMatchObject([
      {
        method: 'GET',
        price: { min_usd: 0.003, max_usd: 0.003 },
        offers: [{ network: 'eip155:8453' }],
        params: [{ name: 'q', in: 'query', example: 'sea' }],
      },
    ])
  })

  test.each([
    [
      '18 decimals',
      {
        network: 'eip155:56',
        asset: '0x8AC76a51cc950d9822D68b83fE1Ad97B32Cd580d',
        amount: '10000000000000000',
      },
      0.01,
    ],
    ['6 decimals', { amount: '1' }, 0.000001],
  ])('an amount at %s is read through its coin’s decimals', async (_what, change, usd) => {
    await seed([row(`${TIDES}/a`, { accepts: [pay(change)] })])
    expect(fieldsOf('api.tides.example')?.get('pricing')).toMatchObject({
      min_usd: usd,
      max_usd: usd,
    })
  })

  test.each([
    [
      'price_too_high',
      { amount: '10000000000000000' },
      '10000000000000000 units at 6 decimals are $10000000000 a call; expected at most $1000',
    ],
    ['ceiling_price', { scheme: 'upto' }, 'expected an exact amount, got the scheme "upto"'],
    [
      'malformed_amount',
      { amount: '$0.01' },
      'expected a whole number of atomic units, got "$0.01"',
    ],
    ['malformed_amount', { amount: '-5' }, 'expected a whole number'],
    [
      'unknown_asset',
      { asset: '0x60a3E35Cc302bFA44Cb288Bc5a4F316Fdb1adb42' },
      'expected a dollar coin',
    ],
    ['unsupported_network', { network: 'stellar:pubnet' }, 'got "stellar:pubnet"'],
  ])(
    '%s is not a price: counted with its arithmetic, and the listing stays',
    async (reason, change, detail) => {
      const result = await seed([row(`${TIDES}/a`, { accepts: [pay(change)] })])
      expect(fieldsOf('api.tides.example')?.get('pricing')).toEqual({ model: 'unknown' })
      expect(result.dropped).toMatchObject([{ reason, detail: expect.stringContaining(detail) }])
      expect(countSeeding(result).left_out).toEqual({ [reason]: 1 })
    },
  )

  test.each([
    ['test_network', row(`${TIDES}/a`, { accepts: [pay({ network: 'base-sepolia' })] })],
    ['private_url', row('https://10.0.0.7/a')],
    ['private_url', row('http://localhost:4021/a')],
    ['tunnel_host', row('https://abc.trycloudflare.com/a')],
    ['template_url', row('https://{tenant}.tides.example/a')],
    ['known_fake', row(`${TIDES}/a`, { accepts: [pay({ payTo: `0x${'0'.repeat(40)}` })] })],
    ['invalid_row', row(`${TIDES}/a`, { accepts: 'free' })],
    ['invalid_row', { accepts: [] }],
  ])('%s is refused', async (reason, bad) => {
    const result = await seed([bad, row('https://other.example/a')])
    expect(result.refused).toMatchObject([{ reason }])
    expect(result.plan.outcomes).toHaveLength(1)
  })

  test('an offset leads from page to page, and ends with the last', async () => {
    const { x402Bazaar } = await import('../../../seeds/sources/x402-bazaar.ts')
    const page = (offset: number) =>
      JSON.stringify({ items: [row(`${TIDES}/a`)], pagination: { limit: 1, offset, total: 2 } })
    const start = new URL('https://bazaar.example/resources?limit=1')
    expect(parsePage(page(0), start, x402Bazaar).next?.search).toBe('?limit=1&offset=1')
    expect(parsePage(page(1), start, x402Bazaar).next).toBeNull()
  })

  test('what people list by hand stays theirs, and gains the source', async () => {
    content.write(
      'listings/x402/tides.md',
      `---\nname: Tides by hand\nkind: http_api\nurl: ${TIDES}/v1/tide\nsummary: By hand.\nsources:\n  - { source: vendor_docs, ref: "https://tides.example/docs" } # theirs\nadded: 2026-01-01\n---\n`,
    )
    const result = await seed([row(`${TIDES}/v1/tide`)])
    expect(result.plan.outcomes).toMatchObject([{ outcome: 'merged', listing: 'x402.tides' }])
    const text = content.listing('listings/x402/tides.md')
    expect(text).toContain('name: Tides by hand')
  })
})

test('the paid tools of one MCP server are one listing of the server', async () => {
  const url = 'https://mcp.tides.example/mcp'
  const tool = (amount: string, more: object) =>
    row(url, { type: 'mcp', accepts: [pay({ amount })], ...more })
  await seed([
    tool('3000', { serviceName: 'Harbour Tools' }),
    tool('20000', { description: 'Moon of a day.' }),
    row('https://mcp.tides.example/v1/tide'),
  ])
  const { rows } = JSON.parse(content.read('sources/x402-bazaar/rows.json'))
  expect(Object.keys(rows)).toHaveLength(2)
  expect(rows[`mcp ${url}`].facts).toMatchObject({
    ...{ kind: 'mcp_server', name: 'Harbour Tools', summary: 'Moon of a day.', url, cost: 'paid' },
    pricing: { min_usd: 0.003, max_usd: 0.02 },
    invoke: [{ kind: 'mcp', transport: 'streamable-http', url }],
  })
})

test('what the catalogue counts is kept as its word, of the day it was captured', async () => {
  const quality = (calls: number, payers: number) => ({
    quality: { l30DaysTotalCalls: calls, l30DaysUniquePayers: payers },
  })
  const page = {
    captured_utc: '2026-09-20T131902Z',
    items: [
      row(`${TIDES}/v1/tide`, quality(120, 7)),
      row(`${TIDES}/v1/moon`, quality(30, 9)),
      row('https://api.ferries.example/v1/next', { quality: { l30DaysTotalCalls: -4 } }),
    ],
  }
  await content.seed({ importer: 'x402-bazaar', from: content.save([page]) })
  const { rows } = JSON.parse(content.read('sources/x402-bazaar/rows.json'))
  const window = { from: '2026-08-21', to: '2026-09-20', as_of: '2026-09-20T13:19:02Z' }
  expect(rows[TIDES].evidence).toEqual({
    reported_use: [
      { source: 'cdp_bazaar', what: 'calls', value: 150, ...window },
      { source: 'cdp_bazaar', what: 'payers', value: 9, ...window },
    ],
  })
  expect(rows['https://api.ferries.example'].evidence).toBeUndefined()
})
