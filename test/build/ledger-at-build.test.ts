import { afterEach, describe, expect, test } from 'vitest'
import { readContent } from '../../src/compile/content/read-content.ts'
import { createCatalogue } from '../../src/compile/derive/catalogue.ts'
import { toLiveListing } from '../../src/domain/derived/live-listing-view.ts'
import { type LedgerFacts, NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
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
