import { describe, expect, test } from 'vitest'
import { readContent } from '../../../src/content/read.ts'
import { contentForEachTest } from '../content-fixture.ts'

const COIN = '0x20c000000000000000000000b9537d11c60e8b50'
const service = (id: string, endpoints: readonly object[], change: object = {}) => ({
  id,
  name: 'Harbour Data',
  serviceUrl: `https://${id}.example`,
  description: 'Depths and tides of harbours.',
  categories: ['data'],
  tags: ['harbours'],
  docs: {
    llmsTxt: `https://${id}.example/llms.txt`,
    apiReference: `https://${id}.example/openapi.json`,
  },
  payments: [{ method: 'tempo', currency: COIN, decimals: 6 }],
  endpoints,
  ...change,
})

const content = contentForEachTest()

const seed = (rows: readonly unknown[], more: object = {}) =>
  content.seed({ importer: 'mpp', from: content.save(rows), ...more })
const fieldsOf = (id: string) => content.fields(`listings/x402/${id}.example.md`)

describe('the MPP directory', () => {
  test('a service becomes a listing whose operations carry their prices', async () => {
    await seed([
      service('depths', [
        {
          route: 'GET /v1/depth',
          desc: 'Depth of a harbour',
          amount: '100000',
          unitType: 'request',
        },
        { route: 'GET /v1/depth/:id', desc: 'One harbour', amount: '25000', unitType: 'record' },
        { route: 'POST /v1/fax', desc: 'A page', amount: '50000', unitType: 'page' },
        { route: 'GET /v1/free', desc: 'Free of charge' },
      ]),
    ])
    const fields = fieldsOf('depths')
    expect(fields?.get('pricing')).toEqual({
      model: 'per_call',
      min_usd: 0.025,
      max_usd: 0.1,
      rails: ['mpp'],
      networks: ['eip155:4217'],
    })
    expect(fields?.get('http')).toMatchObject([
      { url: 'https://depths.example/v1/depth', price: { min_usd: 0.1, per: 'call' } },
      {
        url: 'https://depths.example/v1/depth/{id}',
        params: [{ name: 'id', in: 'path', required: true }],
      },
      { url: 'https://depths.example/v1/fax', price: { per: 'other' } },
      { url: 'https://depths.example/v1/free' },
    ])
    expect(fields?.get('discovery')).toEqual({
      openapi: 'https://depths.example/openapi.json',
      llms_txt: 'https://depths.example/llms.txt',
    })
    expect(fields?.get('auth')).toEqual({ type: 'payment' })
  })

  test('the live API’s shape says the same as the file’s', async () => {
    const payment = {
      method: 'tempo',
      intent: 'charge',
      amount: '100000',
      currency: COIN,
      decimals: 6,
    }
    await seed([
      service('live', [{ method: 'GET', path: '/v1/depth', description: 'Depth', payment }]),
    ])
    expect(fieldsOf('live')?.get('http')).toMatchObject([
      { method: 'GET', description: 'Depth', price: { min_usd: 0.1 }, offers: [{ rail: 'mpp' }] },
    ])
  })

  test.each([
    ['$0.01 – $2.00', { min_usd: 0.01, max_usd: 2, per: 'call' }],
    ['$0.006', { min_usd: 0.006, max_usd: 0.006, per: 'call' }],
    ['$0.20/page', { min_usd: 0.2, max_usd: 0.2, per: 'other' }],
    ['$0.007 – $0.015 per request', { min_usd: 0.007, max_usd: 0.015, per: 'call' }],
    ['$0.025+ (scales with text length)', undefined],
    ['Varies by TLD', undefined],
    ['$5000', undefined],
  ])('a dynamic price said as %j', async (amountHint, price) => {
    await seed([
      service('hints', [
        { route: 'GET /a', desc: 'A', dynamic: true, amountHint },
        { route: 'GET /b', desc: 'B', amount: '1000' },
      ]),
    ])
    const [first]: unknown[] = Object(fieldsOf('hints')?.get('http'))
    expect(Object(first).price).toEqual(price)
  })

  test('cards only: cents, and no chain', async () => {
    await seed([
      service('cards', [{ route: 'GET /a', desc: 'A', amount: '4' }], {
        payments: [{ method: 'stripe', currency: 'usd', decimals: 2 }],
      }),
    ])
    expect(fieldsOf('cards')?.get('pricing')).toMatchObject({ min_usd: 0.04, networks: [] })
  })

  test('a coin nobody knows, and decimals that are not the coin’s, are not a price', async () => {
    const result = await seed([
      service('odd', [{ route: 'GET /a', desc: 'A', amount: '4' }], {
        payments: [{ method: 'tempo', currency: COIN, decimals: 2 }],
      }),
    ])
    expect(result.dropped).toMatchObject([{ reason: 'unknown_asset', name: 'odd GET /a' }])
    expect(fieldsOf('odd')?.get('pricing')).toEqual({ model: 'unknown' })
  })

  test('a price that is read again keeps its day for a month, then has the day of that run', async () => {
    const rows = [service('one', [{ route: 'GET /a', desc: 'A', amount: '4000' }])]
    const readOn = async (today: string, read = rows) => {
      await seed(read, { today })
      return content.rows('mpp').one
    }
    expect(await readOn('2026-11-20')).not.toHaveProperty('read')
    expect(await readOn('2026-12-19')).not.toHaveProperty('read')
    expect(await readOn('2026-12-20')).toMatchObject({ added: '2026-11-20', read: '2026-12-20' })
    expect(await readOn('2027-01-18')).toMatchObject({ read: '2026-12-20' })
    const pricier = [service('one', [{ route: 'GET /a', desc: 'A', amount: '5000' }])]
    expect(await readOn('2027-01-18', pricier)).toMatchObject({ read: '2027-01-18' })
    await content.accept()
    const pricing = (asOf: string) =>
      readContent(content.contentDir, { allowPrivate: false }, asOf).content
    expect(pricing('2027-07-17')?.listings[0]?.facts.pricing).toMatchObject({ max_usd: 0.005 })
    const late = pricing('2027-07-18')
    expect(late?.listings[0]?.facts.pricing).toEqual({ model: 'unknown' })
    expect(late?.pastPrices.get('x402.one.example')).toMatchObject({
      pricing: [{ at: '2027-01-18T00:00:00Z', max_usd: 0.005 }],
    })
  })

  test('what two whole runs a day apart do not have is withdrawn, and comes back', async () => {
    const rows = ['one', 'two', 'three'].map((id) =>
      service(id, [{ route: 'GET /a', desc: 'A', amount: '4000' }]),
    )
    await seed(rows)
    await content.accept()
    const before = content.listing('listings/x402/two.example.md')
    const without = rows.filter(({ id }) => id !== 'two')
    await seed(without, { now: '2026-11-21T00:00:00.000Z' })
    await seed(without, { now: '2026-11-21T09:00:00.000Z' })
    expect(content.listing('listings/x402/two.example.md')).toBe(before)
    const gone = await seed(without, { now: '2026-11-22T00:00:00.000Z' })
    expect(gone.plan.withdrawn).toMatchObject([{ key: 'two', how: 'tombstone' }])
    expect(() => content.listing('listings/x402/two.example.md')).toThrow()
    const read = readContent(content.contentDir, { allowPrivate: false })
    expect(read.content?.tombstones.get('x402.two.example')).toMatchObject({
      id: 'x402.two.example',
      at: '2026-11-22T00:00:00.000Z',
      reason: 'withdrawn',
      by: 'mpp',
    })
    const back = await seed(rows, { now: '2026-11-23T00:00:00.000Z' })
    expect(back.plan.outcomes.find(({ key }) => key === 'two')).toMatchObject({
      outcome: 'returned',
    })
    expect(content.listing('listings/x402/two.example.md')).toBe(before)
  })

  test('one that people edited stays with a notice', async () => {
    const rows = ['one', 'two', 'three'].map((id) =>
      service(id, [{ route: 'GET /a', desc: 'A', amount: '4000' }]),
    )
    await seed(rows)
    await content.accept()
    const file = 'listings/x402/two.example.md'
    const more = 'kind: http_api\nurl: https://two.example\nadded: 2026-11-20'
    const ref = 'sources: [{ source: vendor_docs, ref: "https://two.example" }]'
    content.write(file, content.read(file).replace(/---\n$/, `${more}\n${ref}\n---\n`))
    const without = rows.filter(({ id }) => id !== 'two')
    await seed(without, { now: '2026-11-21T00:00:00.000Z' })
    const result = await seed(without, { now: '2026-11-22T00:00:00.000Z' })
    expect(result.plan.withdrawn).toMatchObject([{ how: 'notice' }])
    expect(content.evidence('listings/x402/two.example.md').notices).toMatchObject([
      { id: 'withdrawn_at_source' },
    ])
    await seed(rows, { now: '2026-11-23T00:00:00.000Z' })
    expect(content.evidence(file)).toEqual({})
  })

  test('one that another source lists too is handed over to it', async () => {
    const rows = ['one', 'two', 'three'].map((id) =>
      service(id, [{ route: 'GET /a', desc: 'A', amount: '4000' }]),
    )
    await seed(rows)
    const resource = {
      resource: 'https://two.example/a',
      accepts: [
        {
          scheme: 'exact',
          network: 'base',
          asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
          amount: '5000',
        },
      ],
    }
    await content.accept()
    await content.seed({ importer: 'x402-bazaar', from: content.save([resource]) })
    expect(content.fields('listings/x402/two.example.md').get('sources')).toMatchObject([
      { source: 'cdp_bazaar' },
      { source: 'mpp_services' },
    ])
    const without = rows.filter(({ id }) => id !== 'two')
    await seed(without, { now: '2026-11-21T00:00:00.000Z' })
    await seed(without, { now: '2026-11-22T00:00:00.000Z' })
    expect(content.fields('listings/x402/two.example.md').get('sources')).toMatchObject([
      { source: 'cdp_bazaar' },
    ])
    await content.seed({ importer: 'x402-bazaar', from: content.save([resource]) })
    expect(content.fields('listings/x402/two.example.md').get('pricing')).toMatchObject({
      rails: ['x402'],
    })
  })

  test.each([
    ['invalid_row', { id: 'no url', endpoints: [] }],
    ['invalid_row', service('x', [], { endpoints: 'many' })],
    ['no_invoke', service('none', [])],
    ['private_url', service('inner', [], { serviceUrl: 'https://169.254.169.254' })],
    ['inactive', service('old', [], { status: 'inactive' })],
  ])('%s is refused', async (reason, bad) => {
    const good = service('good', [{ route: 'GET /a', desc: 'A', amount: '4' }])
    expect((await seed([bad, good])).refused).toMatchObject([{ reason }])
  })
})
