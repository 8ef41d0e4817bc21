import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { orderByNeed, toCandidate } from '../../functions/probes/schedule.ts'
import { toProbeSignals } from '../../src/domain/derived/derived-listing.ts'
import type { Finding, PaymentTerm } from '../../src/domain/probe/finding.ts'
import { combineEvidence, mergeFinding, toDriftNotices } from '../../src/domain/probe/merge.ts'
import { type ProbePlan, planProbe } from '../../src/domain/probe/plan.ts'
import { type Evidence, EvidenceSchema, type Probe } from '../../src/domain/trust/evidence.ts'
import { PROBE_OUTCOMES } from '../../src/domain/wire/vocabulary.ts'
import { SAMPLE_FACTS } from '../domain/listing-samples.ts'
import { factsOf, TERM } from './probe-world.ts'

const PAYEE = TERM.payout
const PAID = { pricing: { ...SAMPLE_FACTS.pricing, max_usd: 0.02 } }
const URL = 'https://api.weather.example/v1'

describe('a plan', () => {
  const handshakeOf = (fields: Record<string, unknown>) =>
    planProbe('x402.a', factsOf(fields))?.handshake

  test('asks the first operation that has a price and can be asked', () => {
    const http = [
      { method: 'POST', url: `${URL}/a` },
      { method: 'GET', url: `${URL}/b` },
      {
        method: 'POST',
        url: `${URL}/c`,
        price: { min_usd: 0.02, max_usd: 0.02, per: 'call' },
        body: { example: { q: 'cats' } },
      },
    ]
    expect(handshakeOf({ ...PAID, http })).toMatchObject({
      kind: 'payment',
      requests: [
        {
          request: { method: 'POST', url: `${URL}/c`, body: '{"q":"cats"}' },
          is_guess: false,
        },
        {},
      ],
    })
  })

  test.each([
    ['a DELETE', { ...PAID, http: [{ method: 'DELETE', url: URL }] }],
    [
      'an unpaid POST that nobody called safe',
      { http: [{ method: 'POST', url: URL, body: { example: {} } }] },
    ],
    ['an unpaid listing without operations', {}],
  ])('asks nothing where there is only %s', (_, fields) => {
    expect(handshakeOf(fields)).toMatchObject({ kind: 'none' })
  })

  test('fills the examples into the address and keeps the declared one', () => {
    const params = [
      { name: 'id', in: 'path', required: true, example: 'a b' },
      { name: 'q', in: 'query', example: 'x' },
    ]
    expect(
      handshakeOf({ ...PAID, http: [{ method: 'GET', url: `${URL}/{id}`, params }] }),
    ).toMatchObject({
      requests: [{ request: { url: `${URL}/a%20b?q=x` }, operation: { url: `${URL}/{id}` } }],
    })
  })

  test('guesses GET where a paid listing names no operation, and says it is a guess', () => {
    expect(handshakeOf(PAID)).toMatchObject({ kind: 'payment', requests: [{ is_guess: true }] })
  })

  test('calls an unpaid operation marked safe, whatever its method', () => {
    const http = [
      { method: 'POST', url: URL, safe: true, body: { example: { a: 1 } }, response: {} },
    ]
    expect(handshakeOf({ http })).toMatchObject({
      kind: 'http',
      requests: [{ request: { method: 'POST', body: '{"a":1}' }, expected: 'application/json' }],
    })
  })

  const remote = (transport: string, path: string) => ({
    kind: 'mcp',
    transport,
    url: `https://mcp.weather.example/${path}`,
  })
  const pack = { kind: 'mcp_package', transport: 'stdio', registry: 'npm', identifier: '@a/b' }
  test.each([
    ['prefers streamable HTTP', [pack, remote('sse', 's'), remote('streamable-http', 'm')], 'mcp'],
    ['takes a stream where only that is declared', [remote('sse', 's')], 'mcp_sse'],
    ['runs no package', [pack], 'none'],
  ])('for MCP %s', (_, invoke, kind) => {
    expect(handshakeOf({ kind: 'mcp_server', invoke })?.kind).toBe(kind)
  })

  test('looks for a card at both places, or where the listing says', () => {
    const agent = { kind: 'a2a_agent', url: 'https://a.example/a2a' }
    expect(handshakeOf(agent)).toEqual({
      kind: 'a2a',
      urls: [
        'https://a.example/.well-known/agent-card.json',
        'https://a.example/.well-known/agent.json',
      ],
    })
    const discovery = { agent_card: 'https://a.example/card.json' }
    expect(handshakeOf({ ...agent, discovery })).toEqual({
      kind: 'a2a',
      urls: [discovery.agent_card],
    })
  })

  test('leaves alone who asked for it, and our own kits', () => {
    expect(planProbe('x402.a', factsOf({ ...PAID, probe: false }))).toBeNull()
    expect(planProbe('kit.a', factsOf({ kind: 'kit', first_party: true }))).toBeNull()
  })
})

const AT = '2026-11-20T12:00:00Z'
const DECLARED: ProbePlan['declared'] = {
  operations: [{ method: 'GET', url: URL, max_usd: 0.02 }],
  networks: ['eip155:8453'],
  payouts: [],
}
const found = (terms: PaymentTerm[]): Finding => ({
  protocol: 'x402',
  outcome: 'spoke',
  status: 402,
  ms: 12,
  version: '2',
  saw: '402',
  sight: { from: 'x402', operation: { method: 'GET', url: URL }, terms },
})
const dead: Finding = { protocol: 'x402', outcome: 'dead', saw: 'no answer in time' }

describe('evidence after a probe', () => {
  test('holds the record, the offers and the payout, and is valid evidence', () => {
    const evidence = mergeFinding({}, found([TERM]), { declared: DECLARED }, AT)
    expect(v.parse(EvidenceSchema, evidence)).toEqual(evidence)
    expect(evidence.probes).toEqual([
      { at: AT, protocol: 'x402', outcome: 'spoke', status: 402, ms: 12, version: '2', saw: '402' },
    ])
    expect(evidence.interface).toEqual({
      at: AT,
      from: 'x402',
      operations: [
        {
          method: 'GET',
          url: URL,
          price: { min_usd: 0.01, max_usd: 0.01, per: 'call' },
          offers: [{ rail: 'x402', network: 'eip155:8453', min_usd: 0.01, max_usd: 0.01 }],
          seen: {
            outcome: 'spoke',
            status: 402,
            min_usd: 0.01,
            max_usd: 0.01,
            pay_to: [PAYEE],
            saw: '402',
          },
        },
      ],
      payouts: [{ payout: PAYEE, network: 'eip155:8453', seen_at: AT }],
    })
    expect(evidence.drift).toBeUndefined()
  })

  test('keeps what a failing probe did not see, and everything that is not a probe’s', () => {
    const before = mergeFinding(
      { signals: { status: 'online' } },
      found([TERM]),
      { declared: DECLARED },
      '2026-11-19T12:00:00Z',
    )
    const after = mergeFinding(before, dead, { declared: DECLARED }, AT)
    expect(after.interface).toEqual(before.interface)
    expect(after.signals).toEqual({ status: 'online' })
    expect(after.probes?.map(({ outcome }) => outcome)).toEqual(['spoke', 'dead'])
  })

  test('leaves the last run of a package as it is, from whichever keeper the probe comes', () => {
    const package_run = { at: '2026-11-19T12:00:00Z', outcome: 'runs_as_declared' } as const
    const probed = mergeFinding({ package_run }, dead, { declared: DECLARED }, AT)
    expect(probed.package_run).toEqual(package_run)
    const later = combineEvidence(probed, mergeFinding({}, dead, { declared: DECLARED }, AT))
    expect(later.package_run).toEqual(package_run)
  })

  test('forgets probes after 90 days, to the second', () => {
    const old = (at: string): Probe => ({ at, protocol: 'x402', outcome: 'spoke' })
    const probes = [old('2026-08-22T11:59:59Z'), old('2026-08-22T12:00:00Z')]
    const after = mergeFinding({ probes }, dead, { declared: DECLARED }, AT)
    expect(after.probes?.map(({ at }) => at)).toEqual(['2026-08-22T12:00:00Z', AT])
  })

  const idsOf = ({ drift = [] }: Evidence, declared = DECLARED) =>
    toDriftNotices(drift, declared, () => false, AT).map(({ id }) => id)
  const noticesOf = (before: Evidence, terms: PaymentTerm[], declared = DECLARED) =>
    idsOf(mergeFinding(before, found(terms), { declared }, AT), declared)

  test('names a price above the listing’s bound, by the cheapest offer', () => {
    expect(noticesOf({}, [{ ...TERM, usd: 0.03 }])).toEqual(['price_changed'])
    expect(noticesOf({}, [{ ...TERM, usd: 0.03 }, TERM])).toEqual([])
    expect(noticesOf({}, [{ ...TERM, usd: 0.02 }])).toEqual([])
    expect(noticesOf({}, [{ ...TERM, usd: null }])).toEqual([])
  })

  test('a row keeps its first date while it holds, and its notice goes when it no longer does', () => {
    const expensive = found([{ ...TERM, usd: 0.03 }])
    const first = mergeFinding({}, expensive, { declared: DECLARED }, '2026-11-18T12:00:00Z')
    expect(first.drift).toMatchObject([{ was: '$0.02', is: '$0.03', of: 'listing' }])
    const second = mergeFinding(first, expensive, { declared: DECLARED }, '2026-11-19T12:00:00Z')
    expect(second.drift).toEqual(first.drift)
    const third = mergeFinding(second, dead, { declared: DECLARED }, AT)
    expect(third.drift).toEqual(first.drift)
    const cheap = mergeFinding(third, found([TERM]), { declared: DECLARED }, AT)
    expect(cheap.drift).toMatchObject([
      { was: '$0.03', is: '$0.01', of: 'look' },
      { of: 'listing' },
    ])
    expect([idsOf(third), idsOf(cheap)]).toEqual([['price_changed'], []])
    // People corrected the listing: nothing stands against it, whatever is in the rows.
    const operations = [{ method: 'GET' as const, url: URL, max_usd: 0.03 }]
    expect(idsOf(third, { ...DECLARED, operations })).toEqual([])
  })

  test('a decoy price is seen, and is not a price', () => {
    const decoy = mergeFinding({}, found([{ ...TERM, usd: 5000 }]), { declared: DECLARED }, AT)
    const [operation] = decoy.interface?.operations ?? []
    expect(operation).toMatchObject({ method: 'GET', url: URL, seen: { min_usd: 5000 } })
    expect(operation).not.toHaveProperty('price')
    expect(idsOf(decoy)).toEqual(['price_changed'])
  })

  test('of a file and of a server’s own probes is put together, the newer sight wins', () => {
    const file = mergeFinding(
      { signals: {} },
      found([TERM]),
      { declared: DECLARED },
      '2026-11-18T12:00:00Z',
    )
    const ledger = mergeFinding({}, found([{ ...TERM, usd: 0.05 }]), { declared: DECLARED }, AT)
    const both = combineEvidence(file, ledger)
    expect(both.probes).toHaveLength(2)
    expect(both.interface).toEqual(ledger.interface)
    expect(idsOf(both)).toEqual(['price_changed'])
    expect(combineEvidence(file, undefined)).toBe(file)
    expect(combineEvidence(combineEvidence(file, ledger), ledger)).toEqual(both)
  })
})

describe('the order', () => {
  const plan = (id: string, kind: 'mcp' | 'none' = 'mcp'): ProbePlan => ({
    id,
    handshake:
      kind === 'mcp'
        ? { kind, url: `https://${id}/` }
        : { kind, protocol: 'mcp', reason: 'a package' },
    declared: DECLARED,
  })
  const probeAt = (at: string, fields: Partial<Probe> = {}): Probe => ({
    at,
    protocol: 'mcp',
    outcome: 'spoke',
    ...fields,
  })
  const now = Date.parse(AT)

  test('is never probed first, then the stalest, then by id', () => {
    const candidates = [
      toCandidate(plan('mcp.fresh'), { probes: [probeAt('2026-11-20T11:00:00Z')] }),
      toCandidate(plan('mcp.stale'), {
        probes: [probeAt('2026-11-18T11:00:00Z'), probeAt('2026-11-01T11:00:00Z')],
      }),
      toCandidate(plan('mcp.never-b'), {}),
      toCandidate(plan('mcp.never-a'), {}),
    ]
    const ids = (staleMs: number) => orderByNeed(candidates, { now, staleMs }).map(({ id }) => id)
    expect(ids(0)).toEqual(['mcp.never-a', 'mcp.never-b', 'mcp.stale', 'mcp.fresh'])
    expect(ids(86_400_000)).toEqual(['mcp.never-a', 'mcp.never-b', 'mcp.stale'])
  })

  test('writes down once that there is nothing to ask', () => {
    expect(orderByNeed([toCandidate(plan('mcp.p', 'none'), {})], { now, staleMs: 0 })).toHaveLength(
      1,
    )
    const known = toCandidate(plan('mcp.p', 'none'), { probes: [probeAt('2026-01-01T00:00:00Z')] })
    expect(orderByNeed([known], { now, staleMs: 0 })).toEqual([])
  })

  test('leaves alone whoever asked for it, for as long as they asked', () => {
    const busy = (at: string) =>
      toCandidate(plan('mcp.busy'), {
        probes: [probeAt(at, { outcome: 'unknown', saw: 'status 429, retry after 3600 s' })],
      })
    expect(orderByNeed([busy('2026-11-20T11:00:01Z')], { now, staleMs: 0 })).toEqual([])
    expect(orderByNeed([busy('2026-11-20T11:00:00Z')], { now, staleMs: 0 })).toHaveLength(1)
  })
})

describe('signals from our own probes', () => {
  const at = (hour: number) => new Date(Date.UTC(2026, 10, 1, hour)).toISOString()
  const probeOf = (hour: number, outcome: Probe['outcome'], ms?: number): Probe => ({
    at: at(hour),
    protocol: 'mcp',
    outcome,
    ...(ms !== undefined && { ms }),
  })

  test('count answers, whether open or gated, and leave out what is nobody’s fault', () => {
    const probes = [
      probeOf(0, 'spoke', 100),
      probeOf(24, 'dead'),
      probeOf(48, 'gated'),
      probeOf(72, 'spoke', 300),
      probeOf(73, 'unknown'),
      probeOf(74, 'spoke', 200),
    ]
    expect(toProbeSignals(probes)).toEqual({
      status: 'online',
      uptime_30d: 80,
      p95_ms: 300,
      as_of: '2026-11-04T02:00:00.000Z',
    })
  })

  test('say nothing about shares of too few', () => {
    expect(toProbeSignals([])).toEqual({})
    expect(toProbeSignals([probeOf(0, 'unknown')])).toEqual({})
    expect(toProbeSignals([probeOf(0, 'spoke', 5), probeOf(1, 'dead')])).toEqual({
      status: 'offline',
      as_of: '2026-11-01T01:00:00.000Z',
    })
  })

  test('are valid signals for any history, whatever its order', () => {
    const anyProbe = fc
      .tuple(fc.integer({ min: 0, max: 2000 }), fc.constantFrom(...PROBE_OUTCOMES), fc.nat(60_000))
      .map(([hour, outcome, ms]) => probeOf(hour, outcome, ms))
    fc.assert(
      fc.property(fc.array(anyProbe, { maxLength: 40 }), (probes) => {
        const signals = toProbeSignals(probes)
        expect(v.is(EvidenceSchema, { signals })).toBe(true)
        const byHour = new Map(probes.map((probe) => [probe.at, probe]))
        const unique = [...byHour.values()]
        expect(toProbeSignals(unique.toReversed())).toEqual(toProbeSignals(unique))
      }),
    )
  })
})
