import { describe, expect, test } from 'vitest'
import { mostReported, type ReportedUse, uniteReports } from '../../src/domain/trust/evidence.ts'
import {
  toKnown,
  toKnownDays,
  toPaidWords,
  toUseSentences,
  toWarning,
} from '../../src/domain/views/known-view.ts'
import { SAMPLE_FACTS, toListing, toMeasured, toProbes } from './listing-samples.ts'

const JULY = { from: '2026-07-04', to: '2026-07-20', as_of: '2026-07-20T00:00:00Z' }
const SEPTEMBER = { from: '2026-08-21', to: '2026-09-20', as_of: '2026-09-20T13:19:02Z' }
const DAY = { from: '2026-09-28', to: '2026-09-28', as_of: '2026-09-28T00:00:00Z' }
const use = (
  source: string,
  window: Pick<ReportedUse, 'as_of'> & Partial<ReportedUse>,
  what: ReportedUse['what'],
  value: number,
): ReportedUse => ({ source, ...window, what, value })
const settled = [
  use('merona', JULY, 'settlements', 22_436),
  use('merona', JULY, 'payers', 688),
  use('merona', JULY, 'volume_usd', 74.76),
]
const called = [
  use('cdp_bazaar', SEPTEMBER, 'calls', 1500),
  use('cdp_bazaar', SEPTEMBER, 'payers', 9),
]
const [CALLS] = called
const tested = [{ ...use('vet402', DAY, 'test_purchase', 1), outcome: '200' }]
const stars = use('toolhive_registry', { as_of: '2026-09-01T00:00:00Z' }, 'stars', 40)
const [GOOD] = toProbes('2026-11-01T10:00:00Z')
const DEAD = { at: '2026-11-02T10:00:00Z', protocol: 'x402', outcome: 'dead' }
const NAMES = new Map(
  [
    ['cdp_bazaar', 'CDP Bazaar (x402 discovery)'],
    ['merona', 'merona'],
    ['vet402', 'vet402'],
  ].map(([id = '', name = '']) => [id, { name }]),
)
const textsOf = (uses: readonly ReportedUse[], usd = 0.005) => {
  const pricing = { ...SAMPLE_FACTS.pricing, min_usd: 0.001, max_usd: usd }
  return toUseSentences({ reported_use: uses, pricing }, (id) => NAMES.get(id)?.name ?? id).map(
    ({ text }) => text,
  )
}

test('of several figures of one source and kind the newest counts, whatever their order', () => {
  const old = use('cdp_bazaar', { as_of: '2026-08-01T00:00:00Z' }, 'calls', 5)
  const reads = [{ reported_use: [...called, stars] }, { reported_use: [old] }, {}]
  expect(uniteReports(reads)).toEqual([...called, stars])
  expect(uniteReports(reads.toReversed())).toEqual([...called, stars])
})

test('figures of several sources are not added up, and a shared or doubted one is not its own', () => {
  const other = use('other', JULY, 'settlements', 90)
  expect(mostReported('settlements', [...settled, other])).toBe(22_436)
  expect(mostReported('settlements', [{ ...other, shared_with: 3 }])).toBe(30)
  expect(mostReported('settlements', [{ ...other, outcome: 'reciprocal' }])).toBeUndefined()
  expect(mostReported('settlements')).toBeUndefined()
})

describe('in words the days and the source stand by each number', () => {
  test.each<[readonly ReportedUse[], string]>([
    [
      settled,
      '4–20 July 2026: 22,436 settlements worth $74.76 in all from at least 688 wallets to its host, whatever they were for, counted by merona',
    ],
    [
      settled.map((each) => ({ ...each, shared_with: 4 })),
      '4–20 July 2026: about 22,436 settlements worth about $74.76 in all from at least 688 wallets, to an address that 4 hosts share, whatever they were for, counted by merona',
    ],
    [
      settled.slice(0, 1).map((each) => ({ ...each, outcome: 'funded' })),
      '4–20 July 2026: 22,436 settlements to its host, whatever they were for, counted by merona, and flagged there as funded',
    ],
    [
      called,
      '21 August – 20 September 2026: 1,500 calls from at least 9 payers, counted by CDP Bazaar',
    ],
    [tested, '28 September 2026: answered 200 after one tester paid (vet402)'],
    [
      [{ ...use('vet402', DAY, 'test_purchase', 1), outcome: '404' }],
      '28 September 2026: answered 404 after one tester paid, maybe due to the request (vet402)',
    ],
    [
      [use('doctor', DAY, 'transfers', 1), use('doctor', DAY, 'senders', 1)],
      '28 September 2026: 1 transfer received from 1 wallet, sales or not, counted by doctor',
    ],
    [[stars], '1 September 2026: 40 stars in all, counted by toolhive_registry'],
  ])('%#', (uses, text) => {
    expect(textsOf(uses)).toEqual([text])
  })

  test.each([
    [0.001, ' (about $0.0033 each, so not all at the price here)'],
    [0.0033, ''],
  ])('payments that cannot all be of its price say so %#', (usd, said) => {
    expect(textsOf(settled, usd)[0]).toContain(`whatever they were for${said}, counted`)
  })

  test('payments come before calls, and what an address received last', () => {
    const received = use('doctor', DAY, 'transfers', 7)
    expect(
      textsOf([received, ...tested, ...called, ...settled]).map((text) => text.slice(-10)),
    ).toEqual(
      ['by merona', 'CDP Bazaar', 'd (vet402)', ' by doctor'].map((end) =>
        expect.stringContaining(end.trim()),
      ),
    )
  })
})

describe('what is known of a listing', () => {
  const known = (evidence: object) => toKnown(toListing({ evidence }), NAMES)

  test('nobody looked, nobody counted: each says so', () => {
    expect(known({})).toMatchObject({
      owner: { known: false },
      answers: { known: false, text: 'not probed yet' },
      paid: { known: false, text: 'we know of no counted payment' },
    })
  })

  test.each<[object, object]>([
    [{ reported_use: settled }, { known: true, as_of: '2026-07-20', source: 'merona' }],
    [
      { reported_use: tested },
      { known: true, text: 'one tester paid on 28 September 2026 (vet402)', source: 'vet402' },
    ],
    [{ reported_use: [use('doctor', DAY, 'transfers', 7)] }, { known: false, as_of: '2026-09-28' }],
    [{ reported_use: called.slice(0, 1) }, { known: false }],
    [{ reported_use: [{ ...CALLS, what: 'payers', value: 1 }, CALLS] }, { known: true }],
    [
      { measured: toMeasured(), reported_use: settled },
      { known: true, as_of: '2026-11-01', source: 'x402-list' },
    ],
  ])('whether anybody paid %#', (evidence, paid) => {
    expect(known(evidence).paid).toMatchObject(paid)
  })

  test.each<[object, string]>([
    [{ probes: [DEAD] }, 'no good answer to our probe on 2 November 2026'],
    [
      { probes: [GOOD, DEAD] },
      'it answered our probe on 1 November 2026, but not on 2 November 2026',
    ],
    [{ probes: [{ ...DEAD, outcome: 'unprobeable' }] }, 'our probe could not call it'],
    [{ probes: [{ ...DEAD, outcome: 'unknown' }] }, 'no result of a probe yet'],
    [
      { reported_use: [use('vet402', DAY, 'test_purchase', 1)] },
      'it answered nothing to a test purchase on 28 September 2026 (vet402)',
    ],
  ])('whether it answers %#', (evidence, text) => {
    expect(known(evidence).answers).toMatchObject({ known: false, text })
    const isDead = 'probes' in evidence && text.includes('2 November')
    expect(toWarning(toListing({ evidence }))).toBe(isDead ? 'no_answer' : undefined)
  })

  test.each([
    ['payment', 'key_required'],
    ['api_key', undefined],
  ])('a key that a probe was asked for is a warning where %s is listed', (type, warning) => {
    const probes = toProbes('2026-11-02T10:00:00Z').map((probe) => ({
      ...probe,
      outcome: 'gated' as const,
    }))
    const facts = { auth: { type, docs: 'https://weather.example/keys' } }
    expect(toWarning(toListing({ facts, evidence: { probes } }))).toBe(warning)
  })

  test('a probe’s answer and a test purchase both say that it answers; the newest good one is named', () => {
    const probes = toProbes('2026-11-02T10:00:00Z')
    expect(known({ probes, reported_use: tested }).answers).toMatchObject({
      known: true,
      as_of: '2026-11-02',
      source: 'service_verified',
    })
    expect(known({ reported_use: tested }).answers).toMatchObject({ known: true, source: 'vet402' })
    const listing = toListing({ evidence: { probes, reported_use: [...tested, ...settled] } })
    expect(toKnownDays(listing, NAMES)).toEqual({ answered: '2026-11-02', paid: '2026-09-28' })
  })

  test.each<[ReportedUse[], string | null]>([
    [settled, '4–20 Jul 2026: 22,436 settlements to its whole host'],
    [
      settled.map((each) => ({ ...each, value: each.what === 'settlements' ? 387 : 69.51 })),
      '4–20 Jul 2026: 387 settlements to its whole host',
    ],
    [called, '21 Aug – 20 Sep 2026: 1,500 calls, 9 payers'],
    [[...called, ...settled], '4–20 Jul 2026: 22,436 settlements to its whole host'],
    [
      [...called, ...settled.map((each) => ({ ...each, shared_with: 4 }))],
      '21 Aug – 20 Sep 2026: 1,500 calls, 9 payers',
    ],
    [[use('doctor', DAY, 'transfers', 7)], null],
  ])('a row has it in at most 60 bytes %#', (reported_use, words) => {
    const text = toPaidWords(toListing({ evidence: { reported_use } }), NAMES)
    expect(text).toBe(words)
    expect(Buffer.byteLength(text ?? '')).toBeLessThanOrEqual(60)
  })

  test('a row has what the page has first: those we read ourselves, however many others count', () => {
    const reported_use = [use('merona', JULY, 'settlements', 900)]
    const listing = toListing({ evidence: { measured: toMeasured(), reported_use } })
    expect(toPaidWords(listing, NAMES)).toBe('30 days to 1 Nov 2026: 340 settlements')
  })
})
