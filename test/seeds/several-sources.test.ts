import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { toSourceLines } from '../../src/components/listing/listing-page.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { createContentFixture } from './content-fixture.ts'

const USDC = '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913'
const COIN = '0x20c000000000000000000000b9537d11c60e8b50'
const HOST = 'https://tides.harbour.dev'
const WALLET = `0x${'Ab'.repeat(20)}`
const IMPORTERS = ['mpp', 'x402-bazaar', 'x402-list'] as const
type Importer = (typeof IMPORTERS)[number]
const ORDERS: readonly (readonly Importer[])[] = [
  ['mpp', 'x402-bazaar', 'x402-list'],
  ['mpp', 'x402-list', 'x402-bazaar'],
  ['x402-bazaar', 'mpp', 'x402-list'],
  ['x402-bazaar', 'x402-list', 'mpp'],
  ['x402-list', 'mpp', 'x402-bazaar'],
  ['x402-list', 'x402-bazaar', 'mpp'],
]

interface Reported {
  path: string
  amount: number
}

const resource = ({ path, amount }: Reported) => ({
  resource: `${HOST}${path}`,
  description: 'Tides of a harbour.',
  accepts: [
    { scheme: 'exact', network: 'base', asset: USDC, amount: String(amount), payTo: WALLET },
  ],
})

const service = (reported: readonly Reported[], room = '') => ({
  id: `tides${room.replace('/', '-')}`,
  name: 'Tides',
  serviceUrl: `${HOST}${room}`,
  description: 'Depths and tides of harbours.',
  tags: ['harbours'],
  docs: { apiReference: `${HOST}/openapi.json` },
  payments: [{ method: 'tempo', currency: COIN, decimals: 6 }],
  endpoints: reported.map(({ path, amount }) => ({
    route: `POST ${path}`,
    desc: 'Tides',
    amount: String(amount),
  })),
})

const measured = (price: number) => ({
  slug: 'tides',
  name: 'Tides API',
  base_url: HOST,
  description: 'Tides.',
  min_price_usd: price,
  networks: ['base'],
  created_at: '2026-02-03T00:00:00Z',
  status: 'online',
})

interface Sources {
  catalogue: Reported[]
  index: Reported[]
  price: number
}

const toRows = ({ catalogue, index, price }: Sources): Record<Importer, unknown[]> => ({
  mpp: [service(catalogue)],
  'x402-bazaar': index.map(resource),
  'x402-list': [measured(price)],
})

let made: ReturnType<typeof createContentFixture>[] = []
afterEach(() => {
  for (const content of made) content.cleanUp()
  made = []
})

function createContent() {
  const content = createContentFixture()
  made.push(content)
  return content
}

async function seedIn(order: readonly Importer[], rows: Record<Importer, unknown[]>) {
  const content = createContent()
  for (const importer of order)
    await content.seed({ importer, from: content.save(rows[importer] ?? []) })
  return content
}

/** The only listing as its page gets it. */
function readViews(contentDir: string) {
  const rules = { allowPrivate: false }
  const { content } = readContent(contentDir, rules)
  if (content === null) throw new Error('the content has faults')
  const baseUrl = 'https://waypost.example'
  const made = createCatalogue(content, {
    baseUrl,
    rules,
    asOf: '2026-11-01',
    ledger: NO_LEDGER_FACTS,
  })
  const [listing] = made.listings
  if (listing === undefined) throw new Error('no listing')
  const table = content.tables.sources.map((row) => ({ ...row, listings: 1 }))
  return { ...toListingView(listing, made), table }
}

/** Every listing that comes of the content, once a person took what waits, and what is known of it. */
async function listingsOf(content: ReturnType<typeof createContentFixture>) {
  await content.accept()
  const {
    content: read,
    faults,
    waiting,
  } = readContent(content.contentDir, { allowPrivate: false })
  expect(faults.filter(({ severity }) => severity === 'error')).toEqual([])
  expect(waiting).toEqual([])
  return { listings: read?.listings, evidence: read?.evidence, stated: read?.stated }
}

const reported = fc.record({
  path: fc.constantFrom('/a', '/b', '/c', '/v1/d'),
  amount: fc.integer({ min: 1, max: 90_000 }),
})
const someReported = fc.uniqueArray(reported, {
  minLength: 1,
  maxLength: 3,
  selector: ({ path }) => path,
})
const sources = fc.record({
  catalogue: someReported,
  index: someReported.map((rest) => [{ path: '/a', amount: 5000 }, ...rest.filter(isNotA)]),
  price: fc.constantFrom(0.001, 0.02),
})

function isNotA({ path }: Reported): boolean {
  return path !== '/a'
}

function withA(given: Sources): Sources {
  // Catalogues of one service share an operation: without one nobody could tell.
  return { ...given, catalogue: [{ path: '/a', amount: 4000 }, ...given.catalogue.filter(isNotA)] }
}

/** What importers wrote: whatever was run when, each file is its own source's alone. */
function sourcesOf(content: ReturnType<typeof createContentFixture>) {
  return Object.entries(content.snapshot())
    .filter(([file]) => file.endsWith('rows.json'))
    .map(([file, text]) => [file.slice(content.root.length), text])
}

async function expectSameListings(rows: Parameters<typeof seedIn>[1]): Promise<void> {
  const [first, ...others] = await Promise.all(ORDERS.map((order) => seedIn(order, rows)))
  if (first === undefined) throw new Error('no order')
  for (const other of others) expect(sourcesOf(other)).toEqual(sourcesOf(first))
  expect((await listingsOf(first)).listings?.length).toBeGreaterThan(0)
}

describe('three sources of one service', () => {
  test('are the same listings, whatever was read when, and check accepts them', async () => {
    await fc.assert(
      fc.asyncProperty(sources.map(withA), async (given) => {
        const rows = toRows(given)
        await expectSameListings(rows)
      }),
      { numRuns: 2 },
    )
  })

  test('lose nothing that any of them said, and keep the known method', async () => {
    const rows = toRows({
      catalogue: [
        { path: '/a', amount: 4000 },
        { path: '/b', amount: 9000 },
      ],
      index: [
        { path: '/a', amount: 5000 },
        { path: '/c', amount: 7000 },
      ],
      price: 0.02,
    })
    const content = await seedIn(['x402-list', 'x402-bazaar', 'mpp'], rows)
    const fields = content.fields('listings/x402/tides.harbour.dev.md')
    expect(fields?.get('http')).toMatchObject([
      {
        method: 'POST',
        url: `${HOST}/a`,
        price: { min_usd: 0.004, max_usd: 0.005 },
        offers: [
          { rail: 'mpp', network: 'eip155:4217', min_usd: 0.004 },
          { rail: 'x402', network: 'eip155:8453', min_usd: 0.005 },
        ],
      },
      { method: 'POST', url: `${HOST}/b` },
      { method: 'GET', url: `${HOST}/c`, assumed: ['method'] },
    ])
    expect(fields?.get('pricing')).toMatchObject({ rails: ['x402', 'mpp'], min_usd: 0.004 })
    expect(fields?.get('sources')).toMatchObject([
      { source: 'x402-list' },
      { source: 'cdp_bazaar' },
      { source: 'mpp_services' },
    ])
    expect(fields?.get('added')).toBe('2026-02-03')
  })

  test('a source that changes its mind takes back its own word alone', async () => {
    const given = { catalogue: [{ path: '/a', amount: 4000 }], price: 0.02 }
    const rows = toRows({
      ...given,
      index: [
        { path: '/a', amount: 5000 },
        { path: '/c', amount: 1 },
      ],
    })
    const content = await seedIn(['x402-bazaar', 'mpp'], rows)
    await content.seed({
      importer: 'x402-bazaar',
      from: content.save([resource({ path: '/a', amount: 6000 })]),
    })
    const fields = content.fields('listings/x402/tides.harbour.dev.md')
    expect(fields?.get('http')).toMatchObject([
      {
        url: `${HOST}/a`,
        offers: [
          { rail: 'mpp', min_usd: 0.004 },
          { rail: 'x402', min_usd: 0.006 },
        ],
      },
    ])
    expect(fields?.get('http')).toHaveLength(1)
  })

  test('what a person wrote stands, whichever source comes after', async () => {
    const rows = toRows({
      catalogue: [{ path: '/a', amount: 4000 }],
      index: [{ path: '/a', amount: 5000 }],
      price: 0.02,
    })
    const content = await seedIn(['mpp'], rows)
    await content.accept()
    const file = 'listings/x402/tides.harbour.dev.md'
    content.write(file, content.read(file).replace(/^name: .*$/m, 'name: Harbour tides'))
    for (const importer of IMPORTERS)
      await content.seed({ importer, from: content.save(rows[importer]) })
    expect(content.fields(file).get('name')).toBe('Harbour tides')
    expect(content.fields(file).get('pricing')).toMatchObject({ rails: ['x402', 'mpp'] })
  })

  test('a person’s listing is compared with what a source says of it, and no other is made', async () => {
    const content = createContent()
    const file = 'listings/x402/by-hand.md'
    const pricing = 'model: per_call, min_usd: 0.001, max_usd: 0.001, rails: [x402], networks: []'
    const facts = `name: By hand\nkind: http_api\nurl: ${HOST}\nsummary: Tides.\ncategories: [geo_weather]\npricing: { ${pricing} }`
    const rows = `sources: [{ source: vendor_docs, ref: "${HOST}" }]\nadded: 2026-11-20`
    content.write(file, `---\n${facts}\n${rows}\n---\n\nTides.\n`)
    const reported = [{ path: '/a', amount: 5000 }].map(resource)
    const other = { ...resource({ path: '/b', amount: 1 }), resource: 'https://other.dev/b' }
    const result = await content.seed({
      importer: 'x402-bazaar',
      from: content.save([...reported, other]),
      listed: true,
    })
    expect(result.refused).toMatchObject([{ reason: 'not_listed', name: 'https://other.dev' }])
    expect(Object.keys(content.rows('x402-bazaar'))).toEqual([HOST])
    const { sources, table } = readViews(content.contentDir)
    expect(toSourceLines({ sources }, table).map(({ says }) => says)).toEqual([
      '',
      'From it: cost, keys, operations.',
    ])
    expect(sources[0]).not.toHaveProperty('says')
    expect(sources[1]).toMatchObject({
      source: 'cdp_bazaar',
      says: ['cost', 'auth', 'http'],
    })
  })
})
