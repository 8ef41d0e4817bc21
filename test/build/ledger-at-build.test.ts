import { afterEach, describe, expect, test } from 'vitest'
import { readContent } from '../../src/compile/content/read-content.ts'
import { createCatalogue } from '../../src/compile/derive/catalogue.ts'
import { toLiveListing } from '../../src/domain/derived/live-listing-view.ts'
import { type LedgerFacts, NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { toMeasured } from '../domain/listing-samples.ts'
import { aSettlement } from '../settlements/samples.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'

const RULES = { allowPrivate: false }
const PAYOUT = `eip155:8453:0x${'ab'.repeat(20)}`

let folder: ReturnType<typeof createContentFolder> | undefined
afterEach(() => folder?.remove())

function build(files: Record<string, string>, ledger: Partial<LedgerFacts> = {}) {
  folder = createContentFolder(files)
  const { content, faults } = readContent(folder.dir, RULES)
  if (content === null) throw new Error(JSON.stringify(faults))
  const catalogue = createCatalogue(content, {
    baseUrl: 'https://waypost.example',
    rules: RULES,
    ledger: { ...NO_LEDGER_FACTS, ...ledger },
  })
  return { catalogue, faults: faults.filter(({ field }) => field.startsWith('payout')) }
}

const ID = 'x402.example-weather'
const FILE = 'listings/x402/example-weather.md'
const weather = { [FILE]: listingText() }

describe('what sellers did, at the next build', () => {
  test('a claim gives its status while the listing is on the host that was proved', () => {
    const statusOn = (host: string) =>
      build(weather, { claimed: new Map([[ID, host]]) }).catalogue.byId.get(ID)
    expect(statusOn('api.weather.example')).toMatchObject({
      status: 'claimed',
      badges: ['domain_verified'],
      tiers: { tier: 'verified' },
    })
    expect(statusOn('old.weather.example')).toMatchObject({
      status: 'unclaimed',
      badges: ['unclaimed'],
      tiers: { tier: null },
    })
  })

  test('an opt-out holds while the listing is on the host that was proved, and keeps its address', () => {
    const out = build(weather, { optedOut: new Map([[ID, 'api.weather.example']]) }).catalogue
    expect(out.listings).toEqual([])
    expect(out.optedOut).toEqual([{ id: ID, url: 'https://api.weather.example/now' }])
    const moved = build(weather, { optedOut: new Map([[ID, 'old.weather.example']]) }).catalogue
    expect(moved.listings.map(({ id }) => id)).toEqual([ID])
    expect(moved.optedOut).toEqual([])
  })
})

describe('a payout that listings of different domains publish', () => {
  const files = (other: string) => ({
    [FILE]: listingText({ payout: `["${PAYOUT}"]` }),
    'listings/x402/other.md': listingText({ url: other, payout: `["${PAYOUT.toLowerCase()}"]` }),
  })

  test('is warned of at both, and counts for neither', () => {
    const { catalogue, faults } = build(files('https://thief.example/now'))
    expect(faults).toMatchObject([
      { file: FILE, severity: 'warning', message: expect.stringContaining('thief.example') },
      { file: 'listings/x402/other.md', message: expect.stringContaining('weather.example') },
    ])
    for (const listing of catalogue.listings) expect(toLiveListing(listing).payout).toEqual([])
  })

  test('but not of one domain: it counts for both', () => {
    const { catalogue, faults } = build(files('https://www.weather.example/now'))
    expect(faults).toEqual([])
    for (const listing of catalogue.listings) {
      expect(toLiveListing(listing).payout).toHaveLength(1)
      expect(listing.payouts.sharers).toBe(2)
    }
  })

  test('customers of one host are different owners', () => {
    const { faults } = build({
      [FILE]: listingText({ url: 'https://a.modal.run/x', payout: `["${PAYOUT}"]` }),
      'listings/x402/other.md': listingText({
        url: 'https://b.modal.run/x',
        payout: `["${PAYOUT}"]`,
      }),
    })
    expect(faults).toHaveLength(2)
  })
})

describe('a payout that a seller’s own 402 named', () => {
  const read = (payout: string) =>
    JSON.stringify({
      interface: {
        at: '2026-11-20T00:00:00Z',
        from: 'x402',
        payouts: [{ payout, network: 'eip155:8453', seen_at: '2026-11-21T00:00:00Z' }],
      },
    })
  const thief = {
    'listings/x402/thief.md': listingText({ url: 'https://thief.example/now' }),
    'evidence/x402/thief.json': read(PAYOUT),
  }

  test('counts where nobody else names it', () => {
    const { catalogue } = build(thief)
    expect(catalogue.byId.get('x402.thief')?.payouts.counts).toEqual([PAYOUT])
    expect(catalogue.byId.get('x402.thief')?.notices).toEqual([])
  })

  test('takes nothing from the listing that published it, and is noticed where it counts for nothing', () => {
    const { catalogue } = build({ ...thief, [FILE]: listingText({ payout: `["${PAYOUT}"]` }) })
    expect(catalogue.byId.get(ID)).toMatchObject({ payouts: { counts: [PAYOUT] }, notices: [] })
    expect(catalogue.byId.get('x402.thief')).toMatchObject({
      payouts: { counts: [], contested: [PAYOUT] },
      notices: [{ id: 'payout_contested', at: '2026-11-21T00:00:00Z' }],
    })
  })
})

test('a proof decides a contested payout, while its claim holds on the host that was proved', () => {
  const files = {
    [FILE]: listingText({ payout: `["${PAYOUT}"]` }),
    'listings/x402/other.md': listingText({
      url: 'https://thief.example/now',
      payout: `["${PAYOUT}"]`,
    }),
  }
  const countsWith = (host: string) =>
    build(files, {
      claimed: new Map([[ID, host]]),
      provenPayouts: new Map([[ID, [PAYOUT]]]),
    }).catalogue.byId.get(ID)
  expect(countsWith('api.weather.example')).toMatchObject({
    payouts: { counts: [PAYOUT], sharers: 1 },
    notices: [],
  })
  expect(countsWith('old.weather.example')).toMatchObject({
    payouts: { counts: [] },
    notices: [{ id: 'payout_contested' }],
  })
})

describe('what buyers spent elsewhere', () => {
  const shop = 'x402.shop'
  const files = {
    ...weather,
    'tables/independent_operators.yaml':
      '- { domain: shop.example, name: Shop, why: Known to everybody. }\n',
  }
  const toShop = (categories: string) =>
    listingText({ url: 'https://api.shop.example/buy', categories })
  const paid = (payer: string, listing_id: string, usd: number) =>
    aSettlement({ payer, listing_id, usd })
  const small = ['a', 'b', 'c'].map((payer) => paid(payer, ID, 0.001))
  const build3 = (
    given: ReturnType<typeof paid>[],
    { source = 'service_verified', categories = '[commerce_purchases]' } = {},
  ) =>
    build(
      { ...files, 'listings/x402/shop.md': toShop(categories) },
      {
        settlements: new Map([[ID, { ...toMeasured({ verified_buyers_30d: 3 }), source }]]),
        payments: new Map([
          [ID, small],
          [shop, given],
        ]),
      },
    ).catalogue.byId.get(ID)

  test('is the cost to fake, and the weight of buyers in v0.2; order stays with v0.1', () => {
    const given = [paid('a', shop, 2.5), paid('b', shop, 9)]
    const listing = build3(given)
    expect(listing?.independence).toMatchObject({ cost_to_fake_usd: 7.5034, weighted_buyers: 1.5 })
    expect(listing?.trust).toEqual(build3([])?.trust)
    expect(build3([])?.independence).toMatchObject({ cost_to_fake_usd: 0.0034, score: null })
  })

  test('is not what they paid for gift cards, credit or cash', () => {
    const categories = '[commerce_purchases, offramp_giftcards_payouts]'
    const listing = build3([paid('a', shop, 2.5), paid('b', shop, 9)], { categories })
    expect(listing?.independence).toMatchObject({ cost_to_fake_usd: 0.0034, weighted_buyers: 0 })
  })

  test('is not known where a provider gives sums alone', () => {
    expect(build3([], { source: 'x402-list' })?.independence).toBeNull()
  })
})
