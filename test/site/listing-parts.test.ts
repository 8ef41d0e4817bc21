import { describe, expect, test } from 'vitest'
import {
  shortenPayees,
  toProbeCounts,
  toSettlementBars,
} from '../../src/components/evidence/evidence-words.ts'
import { toTaskChoices, toTaskLinks } from '../../src/components/home/home-lists.ts'
import { toStatusText } from '../../src/components/listing/listing-page.ts'
import { toStripFacts } from '../../src/components/rows/decision-facts.ts'
import { toMonogram } from '../../src/components/rows/tile.ts'
import { type TaskOffer, toTaskPages } from '../../src/domain/plans/task-offers.ts'
import { judgeTrust } from '../../src/domain/trust/trust.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { toScoreParts } from '../../src/domain/views/trust-view.ts'
import type { Warning } from '../../src/domain/wire/vocabulary.ts'
import { toListing, toMeasured, VIEW_CONTEXT } from '../domain/listing-samples.ts'

describe('why a score is what it is', () => {
  test.each([
    ['an ordinary listing', {}, 1],
    ['a payout that five share', { shared_payout: true }, 5],
    ['few buyers', { verified_buyers_30d: 1, top_buyer_share_30d: 1 }, 1],
  ])('the parts of %s add up to its score', (_, change, sharers) => {
    const verdict = judgeTrust(toMeasured(change), sharers, '2026-11-01')
    const parts = toScoreParts(verdict)
    const sum = parts.reduce((all, { points }) => all + points, 0)
    expect(sum).toBeCloseTo('score' in verdict ? verdict.score : -1, 6)
    expect(parts).toHaveLength(6)
  })

  test('without a score there is nothing to explain', () => {
    expect(toScoreParts(judgeTrust(undefined, 1, '2026-11-01'))).toEqual([])
  })
})

describe('what is not known of a listing', () => {
  const viewOf = (facts: object) =>
    toListingView(toListing({ facts: { pricing: { model: 'unknown' }, ...facts } }), VIEW_CONTEXT)
  const statusTextOf = (facts: object) => {
    const switches = { sellers: true, payments: true, trust: true }
    return toStatusText(viewOf(facts), null, switches)
  }
  const npm = { kind: 'mcp_package', transport: 'stdio', registry: 'npm', identifier: '@example/x' }
  const remote = { kind: 'mcp', transport: 'streamable-http', url: 'https://weather.example/mcp' }

  test('is its cost, where a call of it may cost something', () => {
    expect(statusTextOf({})).toContain('what it costs')
    expect(statusTextOf({ kind: 'mcp_server', invoke: [npm, remote] })).toContain('what it costs')
    expect(statusTextOf({ cost: 'free' })).not.toContain('what it costs')
  })

  test('is not the cost of a server that runs on one’s own machine', () => {
    const facts = { kind: 'mcp_server', invoke: [npm] }
    expect(statusTextOf(facts)).not.toContain('what it costs')
    const runs = toStripFacts(viewOf(facts), []).find(({ label }) => label === 'Runs')
    expect(runs?.value).toBe('On your machine')
    const price = toStripFacts(viewOf(facts), []).find(({ label }) => label === 'Price')
    expect(price?.value).toBe('Free to run')
  })
})

test.each([
  ['0x1234567890abcdef1234', '0x1234…1234'],
  ['0x1234567890ab', '0x1234567890ab'],
  ['0x1234567890abc', '0x1234…0abc'],
])(
  'in a sentence a payee is its address, the middle left out of a long one: %s',
  (payee, short) => {
    expect(shortenPayees(`From solana:x:a to eip155:1:${payee}.`)).toBe(`From a to ${short}.`)
  },
)

describe('days as bars', () => {
  test('a day without settlements is a gap, and the sentence counts them all', () => {
    const bars = toSettlementBars([
      { date: '2026-10-26', settlements: 0, volume_usd: 0, buyers: 0 },
      { date: '2026-10-30', settlements: 4, volume_usd: 1, buyers: 1 },
      { date: '2026-11-01', settlements: 8, volume_usd: 1, buyers: 1 },
    ])
    expect(bars?.shares.slice(-3)).toEqual([0.5, 0, 1])
    expect(bars?.text).toContain('12 in all, at most 8 on one day')
    expect(toSettlementBars([])).toBeNull()
    expect(
      toSettlementBars([{ date: '2026-11-01', settlements: 8, volume_usd: 1, buyers: 1 }]),
    ).toBeNull()
  })

  test('what was our own fault is not a failure of the seller', () => {
    const probe = (at: string, outcome: 'spoke' | 'dead' | 'unknown') =>
      ({ at: `${at}T20:00:00Z`, protocol: 'x402', outcome }) as const
    const counts = toProbeCounts([
      probe('2026-10-29', 'unknown'),
      probe('2026-10-30', 'spoke'),
      probe('2026-10-30', 'dead'),
      probe('2026-10-31', 'dead'),
    ])
    expect(counts).toEqual([['Our probes', '1 of 3 answered']])
    const two = [probe('2026-10-30', 'spoke'), probe('2026-10-31', 'spoke')]
    expect(toProbeCounts(two)).toEqual([['Our probes', '2 of 2 answered']])
    expect(toProbeCounts(two.slice(1))).toEqual([])
  })
})

test.each([
  ['Fair Weather', 'FW'],
  ['GitHub', 'Gi'],
  ['天気サーバー', '天'],
  ['مترجم', 'م'],
  ['x', 'X'],
  ['---', '·'],
])('the letters of %s are %s', (name, letters) => {
  expect(toMonogram(name)).toBe(letters)
})

describe('tasks of the home page', () => {
  const sells = (
    id: string,
    usd: number | null,
    { ms, payments = 0 }: { ms?: number; payments?: number } = {},
  ): TaskOffer => ({
    listing: { id, name: id, kind: 'http_api', page: `/listing/${id}` },
    ...{
      auth: 'payment',
      operation: `GET https://${id}.example/search`,
      usd,
      price: '',
      digest: 'd',
    },
    ...(ms !== undefined && { answered: { at: '2026-11-01T08:00:00Z', ms } }),
    ...(payments > 0 && {
      paid: {
        at: '2026-11-01T08:00:00Z',
        settlements_30d: payments,
        as_of: '2026-11-02T00:00:00Z',
      },
    }),
  })
  const toPages = (...offers: TaskOffer[]) =>
    toTaskPages(
      [{ id: 'web_search', name: 'Search the web', words: ['a', 'b'] }],
      offers.map((offer) => ({ task: 'web_search', offer })),
    )
  const WARNED: Readonly<Record<string, Warning>> = { contested: 'payout_contested' }
  const choicesOf = (...offers: TaskOffer[]) =>
    toTaskChoices(toPages(...offers), (id) => WARNED[id])[0]?.choices.map(
      ({ label, name, value, warning = '' }) => `${label}: ${name}, ${value}${warning}`,
    )

  test('name the cheapest, the fastest and the most paid, and nobody for what was never measured', () => {
    expect(choicesOf(sells('b', 0.01), sells('a', 0.01))).toEqual(['Cheapest: a, $0.01'])
    expect(
      choicesOf(
        sells('a', 0.01),
        sells('b', 0.02, { ms: 90 }),
        sells('c', 0.03, { ms: 400, payments: 7 }),
      ),
    ).toEqual(['Cheapest: a, $0.01', 'Fastest: b, 90 ms', 'Most paid: c, 7 payments'])
  })

  test('free comes before every price, and an unknown price after it', () => {
    const [page] = toPages(sells('a', null), sells('b', 0.01), sells('c', 0))
    expect(page?.offers.map(({ listing }) => listing.id)).toEqual(['c', 'b', 'a'])
    expect(page).toMatchObject({ sellers: 3, min_usd: 0 })
    expect(choicesOf(sells('a', null), sells('b', 0.01), sells('c', 0))).toEqual([
      'Free: c, ',
      'Paid from: b, $0.01',
    ])
  })

  test('carry the warning of a listing that they recommend', () => {
    expect(choicesOf(sells('contested', 0.01), sells('b', 0.02))).toEqual([
      'Cheapest: contested, $0.01payout_contested',
    ])
  })

  test('that nobody does are not linked', () => {
    expect(toTaskLinks([...toPages(), ...toPages(sells('a', null))])).toMatchObject([
      { sellers: 1 },
    ])
  })

  test('need two services with a price', () => {
    expect(choicesOf(sells('a', 0.01))).toBeUndefined()
    expect(choicesOf(sells('a', 0.01), sells('b', null))).toBeUndefined()
  })
})
