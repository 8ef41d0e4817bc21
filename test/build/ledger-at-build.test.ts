import { describe, expect, test } from 'vitest'
import { toLiveListing } from '../../src/build/listing-files.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import type { LedgerPayment } from '../../src/domain/trust/ledger-facts.ts'
import { type LedgerFacts, NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { toKnown } from '../../src/domain/views/known-view.ts'
import { toTrustSummary } from '../../src/domain/views/trust-view.ts'
import { aSettlement, NETWORK, NOON, wallet } from '../settlements/samples.ts'
import { createContentFolder, listingText } from '../support/content-folder.ts'
import { judgeSeen } from '../support/judge-seen.ts'

const RULES = { allowPrivate: false }
const PAYOUT = `eip155:8453:0x${'ab'.repeat(20)}`

function build(files: Record<string, string>, ledger: Partial<LedgerFacts> = {}) {
  const folder = createContentFolder(files)
  const { content, faults } = readContent(folder.dir, RULES)
  if (content === null) throw new Error(JSON.stringify(faults))
  const catalogue = createCatalogue(content, {
    baseUrl: 'https://waypost.example',
    rules: RULES,
    asOf: '2026-11-01',
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

  test('who owns a claimed listing is said with the day of the proof', () => {
    const claims = {
      claimed: new Map([[ID, 'api.weather.example']]),
      provedAt: new Map([[ID, Date.parse('2026-10-03T21:04:05Z')]]),
    }
    const listing = build(weather, claims).catalogue.byId.get(ID)
    expect(listing && toKnown(listing, new Map()).owner).toEqual({
      known: true,
      text: 'its owner proved control of api.weather.example on 3 October 2026',
      as_of: '2026-10-03',
      source: 'service_verified',
    })
  })

  test('an opt-out holds while the listing is on the host that was proved, and keeps its address', () => {
    const out = build(weather, { optedOut: new Map([[ID, 'api.weather.example']]) }).catalogue
    expect(out.listings).toEqual([])
    expect(out.optedOut).toEqual([
      { id: ID, name: expect.any(String), url: 'https://api.weather.example/now' },
    ])
    const moved = build(weather, { optedOut: new Map([[ID, 'old.weather.example']]) }).catalogue
    expect(moved.listings.map(({ id }) => id)).toEqual([ID])
    expect(moved.optedOut).toEqual([])
  })
})

describe('a listing that is another one now', () => {
  const NEW = 'x402.storm'
  const SEEN = JSON.stringify({
    probes: [{ at: '2026-11-20T00:00:00Z', protocol: 'x402', outcome: 'spoke' }],
  })
  const files = {
    ...weather,
    'listings/x402/storm.md': listingText({ url: 'https://storm.example/now' }),
    'evidence/x402/example-weather.json': SEEN,
  }
  const out = { optedOut: new Map([[ID, 'api.weather.example']]), moved: new Map([[ID, NEW]]) }

  test('by its owner’s word leads there, with what was seen of it', () => {
    const { gone, byId } = build(files, out).catalogue
    expect(gone).toEqual([{ id: ID, at: null, reason: 'moved', moved_to: NEW, another_host: true }])
    expect(byId.get(NEW)?.evidence.probes).toHaveLength(1)
  })

  test('is gone where that one was taken out too', () => {
    const both = new Map([...out.optedOut, [NEW, 'storm.example']])
    const { gone } = build(files, { ...out, optedOut: both }).catalogue
    expect(gone.map(({ reason }) => reason)).toEqual(['opted_out', 'opted_out'])
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

test('a payout that only a seller’s own 402 names counts for nothing, and contests nothing', () => {
  const thief = {
    'listings/x402/thief.md': listingText({ url: 'https://thief.example/now' }),
    'evidence/x402/thief.json': JSON.stringify({
      interface: {
        at: '2026-11-20T00:00:00Z',
        from: 'x402',
        payouts: [{ payout: PAYOUT, network: 'eip155:8453', seen_at: '2026-11-21T00:00:00Z' }],
      },
    }),
  }
  const { catalogue } = build({ ...thief, [FILE]: listingText({ payout: `["${PAYOUT}"]` }) })
  const state = { owned: [], contested: [], sharers: 1 }
  expect(catalogue.byId.get('x402.thief')).toMatchObject({ payouts: state, notices: [] })
  expect(catalogue.byId.get(ID)).toMatchObject({ payouts: { ...state, owned: [PAYOUT] } })
})

const aLedgerRow: LedgerPayment = {
  network: 'eip155:8453',
  transaction: '0x0',
  log: 0,
  at: Date.parse('2026-11-20T12:00:00Z'),
  asset: '0x833589fcd6edb6e08f4c7c32d4f71b54bda02913',
  amount: '1000',
  usd_micro: 1000,
  payer: `0x${'9'.repeat(40)}`,
  payee: '',
  scheme: 'eip3009',
  listings: [],
  verdict: 'payee_not_owned',
}

test('a seller whose payees rotate by design has one notice of that, and none of each change', () => {
  const changes = [1, 2, 3].map((n) => ({
    at: `2026-11-2${n}T00:00:00Z`,
    what: 'payee',
    name: 'GET https://api.weather.example/now',
    was: `eip155:8453:0x${String(n - 1).repeat(40)}`,
    is: `eip155:8453:0x${String(n).repeat(40)}`,
    of: 'look',
  }))
  const noticesAfter = (most: number, paid = most) => {
    const payments = changes.slice(0, paid).map(({ is }, n) => ({
      ...aLedgerRow,
      transaction: `0x${n}`,
      payee: is.slice('eip155:8453:'.length),
    }))
    const drift = changes.slice(0, most).reverse()
    const seen = { at: '2026-11-24T00:00:00Z', from: 'x402' }
    const evidence = JSON.stringify({ drift, interface: seen })
    const files = { ...weather, 'evidence/x402/example-weather.json': evidence }
    const { catalogue } = build(files, { payments })
    return catalogue.byId.get(ID)?.notices.map(({ id }) => id)
  }
  expect(noticesAfter(2)).toEqual(['payout_changed'])
  expect(noticesAfter(3)).toEqual(['payout_rotating'])
  // Whoever broke into a server can name as many as they like.
  expect(noticesAfter(3, 2)).toEqual(['payout_changed'])
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
    payouts: { owned: [PAYOUT], sharers: 1 },
    notices: [],
  })
  expect(countsWith('old.weather.example')).toMatchObject({
    payouts: { owned: [] },
    notices: [{ id: 'payout_contested' }],
  })
})

describe('who vouches for buyers', () => {
  const seeds = ['one', 'two', 'three']
  const files = {
    ...weather,
    'tables/independent_operators.yaml': seeds
      .map((name) => `- { domain: ${name}.example, name: ${name}, why: Known to everybody. }\n`)
      .join(''),
    ...Object.fromEntries(
      seeds.map((name) => [
        `listings/x402/${name}.md`,
        listingText({ url: `https://api.${name}.example/buy` }),
      ]),
    ),
  }
  const asOf = NOON
  const payees = [ID, ...seeds.map((name) => `x402.${name}`)].map((id, n) => ({
    payee: `${NETWORK}:${wallet(n)}`,
    owner: id === ID ? 'weather.example' : `${id.slice('x402.'.length)}.example`,
    proof: 'published' as const,
    listings: [id],
  }))
  const sold = (id: string, payers: [payer: string, usd: number][]) =>
    payers.map(([payer, usd]) => ({
      ...aSettlement({ payer, usd, amount: String(usd * 1_000_000) }),
      payee: wallet([ID, ...seeds.map((name) => `x402.${name}`)].indexOf(id)),
    }))
  const small = ['a', 'b', 'c'].map((payer): [string, number] => [payer, 0.001])
  /** What others must have paid a known seller. */
  const enough = Array.from({ length: 10 }, (_, n): [string, number] => [`somebody ${n}`, 0.26])
  /** @param paid known sellers that others paid */
  const build3 = (paid: string[], toOne: [string, number][] = []) => {
    const seen = [
      ...sold(ID, small),
      ...paid.flatMap((name) => sold(`x402.${name}`, enough)),
      ...sold('x402.one', toOne),
    ]
    const around = { asOf, payees, transfers: [], hasPaidElsewhere: () => false }
    const payments = judgeSeen(seen, around)
    return build(files, { asOf, payments, payees }).catalogue.byId.get(ID)?.trust
  }

  test('buyers count by what they paid known sellers, the rest are unknown and not wash', () => {
    const trust = build3(seeds, [
      ['a', 0.3],
      ['b', 0.13],
    ])
    expect(trust).toMatchObject({
      evidence: 'verified_non_wash_payments',
      measured: { verified_buyers_30d: 1.5, unknown_buyers_30d: 1, wash_flags: [], watch: [] },
    })
  })

  test('with unknown buyers alone there is no score', () => {
    expect(build3(seeds)).toMatchObject({
      evidence: 'no_independent_paid_usage_30d',
      measured: { verified_buyers_30d: 0, unknown_buyers_30d: 3 },
    })
  })

  test('with two known sellers measured everybody counts, and the score says what that means', () => {
    const trust = build3(['one', 'two'], [['a', 0.3]])
    expect(trust).toMatchObject({
      evidence: 'verified_non_wash_payments',
      measured: { verified_buyers_30d: 3 },
    })
    expect(trust && toTrustSummary(trust)).toMatchObject({
      watch: [{ id: 'independence_unmeasured' }],
    })
    expect(trust).not.toHaveProperty('measured.unknown_buyers_30d')
  })
})
