import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { orderByNeed, toCandidate } from '../../functions/probes/schedule.ts'
import type { Finding, OtherAnswer, PaymentTerm } from '../../src/domain/probe/finding.ts'
import { mergeFinding, toDriftNotices } from '../../src/domain/probe/merge.ts'
import { type ProbePlan, planProbe } from '../../src/domain/probe/plan.ts'
import { type Evidence, EvidenceSchema } from '../../src/domain/trust/evidence.ts'
import { SAMPLE_FACTS } from '../domain/listing-samples.ts'
import { factsOf, TERM } from './probe-world.ts'

const ORIGIN = 'https://api.weather.example'
const PAID = { pricing: { ...SAMPLE_FACTS.pricing, min_usd: 0, max_usd: 1 } }
const cost = (usd: number) => ({ price: { min_usd: usd, max_usd: usd, per: 'call' } })
const get = (path: string, more: object = {}) => ({
  method: 'GET',
  url: `${ORIGIN}${path}`,
  ...more,
})
const post = (path: string, more: object = {}) => ({
  method: 'POST',
  url: `${ORIGIN}${path}`,
  body: { example: {} },
  ...more,
})

function planOf(http: unknown[], fields: object = PAID): ProbePlan {
  const plan = planProbe('x402.a', factsOf({ http, ...fields }))
  if (plan === null) throw new Error('no plan')
  return plan
}

/** What is asked of a listing, in order: `GET /path`. */
function requestedOf(http: unknown[], fields: object = PAID): string[] {
  const { handshake } = planOf(http, fields)
  const all = 'requests' in handshake ? handshake.requests : []
  return all.map(({ request: { method, url } }) => `${method} ${url.replace(ORIGIN, '')}`)
}

describe('the operations of a plan', () => {
  test('begin with the one a buyer most likely wants, then what has a price, then the rest', () => {
    const http = [get('/free', cost(0)), get('/a'), get('/b', cost(0.1)), post('/c', cost(0.2))]
    expect(requestedOf(http)).toEqual(['GET /b', 'GET /free', 'POST /c', 'GET /a'])
  })

  const elsewhere = 'https://elsewhere.example/x'
  test.each<[string, object]>([
    ['on another host', get('', { url: elsewhere, ...cost(0.1) })],
    ['on another port', get('', { url: `${ORIGIN}:8443/x`, ...cost(0.1) })],
    [
      'the same request by another name',
      get('/{a}', {
        params: [{ name: 'a', in: 'path', required: true, example: 'first' }],
      }),
    ],
    ['a parameter nobody knows', get('/y/{id}', { params: [{ name: 'id', in: 'path' }] })],
    ['a POST without an example', post('/z', { ...cost(0.1), body: {} })],
    ['a POST that costs nothing', post('/z', cost(0))],
    ['a POST whose cost nobody says', post('/z')],
    ['a DELETE', { method: 'DELETE', url: `${ORIGIN}/z`, ...cost(0.1) }],
  ])('leave out %s', (_, operation) => {
    expect(requestedOf([get('/first', cost(0.1)), operation])).toEqual(['GET /first'])
    // Nor does it come first where it stands first, unless nothing else speaks of its host.
    if (!JSON.stringify(operation).match(/elsewhere|8443|\{a\}/))
      expect(requestedOf([operation, get('/first', cost(0.1))])).toEqual(['GET /first'])
  })

  test('take a POST where all cost what the listing says, and what is marked safe', () => {
    expect(requestedOf([get('/a'), post('/b')])).toEqual(['GET /a', 'POST /b'])
    expect(requestedOf([get('/a'), post('/b', { safe: true })], {})).toEqual(['GET /a', 'POST /b'])
    expect(requestedOf([get('/a'), post('/b')], {})).toEqual(['GET /a'])
  })

  test('carry their own bound, or the listing’s', () => {
    const { declared } = planOf([
      get('/a', cost(0.1)),
      get('/b', cost(0.3)),
      get('/c'),
      get('/d', { price: { min_usd: 2, max_usd: 2, per: 'minute' } }),
    ])
    expect(
      declared.operations.map(({ url, max_usd }) => [url.replace(ORIGIN, ''), max_usd]),
    ).toEqual([
      ['/a', 0.1],
      ['/b', 0.3],
      ['/d', null],
      ['/c', 1],
    ])
  })
})

const PAYEE = TERM.payout
const [OTHER = '', THIRD = ''] = ['22', '33'].map((pair) => `eip155:8453:0x${pair.repeat(20)}`)
const at = (day: number) => `2026-11-${String(day).padStart(2, '0')}T12:00:00Z`
const url = (path: string) => `${ORIGIN}${path}`

function spoke(path: string, terms: PaymentTerm[]): Finding {
  const operation = { method: 'GET', url: url(path) } as const
  const saw = `402 with ${terms.length}`
  return {
    protocol: 'x402',
    outcome: 'spoke',
    status: 402,
    saw,
    sight: { from: 'x402', operation, terms },
  }
}
const other = (path: string, finding: Finding): OtherAnswer => ({
  operation: { method: 'GET', url: url(path) },
  finding,
})
const failed = (
  outcome: Finding['outcome'],
  status: number,
  saw = `status ${status}`,
): Finding => ({
  protocol: 'x402',
  outcome,
  status,
  saw,
})
const declared = (payouts: string[] = []): ProbePlan['declared'] => ({
  operations: [
    { method: 'GET', url: url('/a'), max_usd: 0.02 },
    { method: 'GET', url: url('/b'), max_usd: 0.05 },
    { method: 'GET', url: url('/c'), max_usd: null },
  ],
  networks: ['eip155:8453'],
  payouts,
})

function look(
  before: Evidence,
  day: number,
  others: OtherAnswer[],
  payouts: string[] = [],
): Evidence {
  const finding = { ...spoke('/a', [TERM]), others }
  const after = mergeFinding(before, finding, { declared: declared(payouts) }, at(day))
  expect(v.parse(EvidenceSchema, after)).toEqual(after)
  return after
}
const seenOf = (evidence: Evidence, path: string) =>
  evidence.interface?.operations?.find((each) => each.url === url(path))?.seen
const notesOf = ({ drift = [], interface: seen }: Evidence, payouts: string[] = []) =>
  Object.fromEntries(
    toDriftNotices(drift, declared(payouts), () => false, seen?.at ?? '').map(({ id, note }) => [
      id,
      note,
    ]),
  )

describe('what each operation said', () => {
  test('stands in the interface, sorted, with price, offers, payee and status', () => {
    const after = look({}, 1, [
      other('/c', failed('wrong_protocol', 200, 'status 200 without payment')),
      other(
        '/b',
        spoke('/b', [
          { ...TERM, usd: 0.04 },
          { ...TERM, usd: 0.05, payout: OTHER },
        ]),
      ),
    ])
    const operations = after.interface?.operations ?? []
    expect(operations.map((each) => each.url)).toEqual([url('/a'), url('/b'), url('/c')])
    expect(operations[1]).toMatchObject({
      price: { min_usd: 0.04, max_usd: 0.05, per: 'call' },
      offers: [{ rail: 'x402', network: 'eip155:8453', min_usd: 0.04, max_usd: 0.05 }],
    })
    expect(seenOf(after, '/b')).toEqual({
      outcome: 'spoke',
      status: 402,
      min_usd: 0.04,
      max_usd: 0.05,
      pay_to: [PAYEE, OTHER],
      saw: '402 with 2',
    })
    expect(seenOf(after, '/c')).toMatchObject({ outcome: 'wrong_protocol', status: 200 })
    expect(after.interface?.payouts?.map(({ payout }) => payout)).toEqual([PAYEE, OTHER])
    expect(after.probes).toMatchObject([{ outcome: 'spoke', saw: '402 with 1' }])
  })

  test('changes only times where it is the same again', () => {
    const others = [other('/b', spoke('/b', [TERM])), other('/c', failed('dead', 404))]
    const first = look({}, 1, others)
    const again = look(first, 2, others)
    const { at: _, payouts: __, ...rest } = again.interface ?? {}
    expect(first.interface).toMatchObject(rest)
  })

  test('keeps its own day where it was not asked again, and goes after 90', () => {
    const first = look({}, 1, [other('/b', spoke('/b', [TERM]))])
    const second = look(first, 2, [])
    expect(seenOf(second, '/b')).toMatchObject({ at: at(1), outcome: 'spoke' })
    expect(seenOf(second, '/a')).not.toHaveProperty('at')
    const later = mergeFinding(
      second,
      spoke('/a', [TERM]),
      { declared: declared() },
      '2027-02-01T00:00:00Z',
    )
    expect(seenOf(later, '/b')).toBeUndefined()
  })

  test('keeps the price of its last 402 while it is silent, and not once it asks nothing', () => {
    const first = look({}, 1, [other('/b', spoke('/b', [{ ...TERM, usd: 0.04 }]))])
    const silent = look(first, 2, [other('/b', failed('dead', 502))])
    expect(seenOf(silent, '/b')).toMatchObject({ outcome: 'dead', status: 502, min_usd: 0.04 })
    const free = look(silent, 3, [other('/b', failed('wrong_protocol', 200))])
    expect(seenOf(free, '/b')).not.toHaveProperty('min_usd')
  })

  test('is nothing where the first operation did not speak', () => {
    const first = look({}, 1, [other('/b', spoke('/b', [TERM]))])
    const dead = mergeFinding(first, failed('dead', 502), { declared: declared() }, at(2))
    expect(dead.interface).toEqual(first.interface)
  })

  test('is cut to what a listing may hold, and that is said', () => {
    const schema = { description: 'x'.repeat(29_000) }
    const paths = ['/b', '/c', '/d', '/e', '/f', '/g', '/h', '/i', '/j', '/k']
    const others = paths.map((path) => {
      const params = [{ name: 'q', in: 'query' as const, schema }]
      const operation = { method: 'GET' as const, url: url(path), params }
      return other(path, {
        ...spoke(path, [TERM]),
        sight: { from: 'x402', terms: [TERM], operation },
      })
    })
    const after = look({}, 1, others)
    expect(after.interface?.truncated).toBe(true)
    expect(after.interface?.operations).toHaveLength(11)
    expect(seenOf(after, '/k')).toMatchObject({ outcome: 'spoke' })
  })
})

describe('drift', () => {
  test('of a price is each operation’s own, and names it', () => {
    const priced = (usd: number) => [other('/b', spoke('/b', [{ ...TERM, usd }]))]
    expect(notesOf(look({}, 1, priced(0.05)))).toEqual({})
    expect(notesOf(look({}, 1, priced(0.06)))).toEqual({
      price_changed: 'The price of GET /b is $0.06; the listing says at most $0.05.',
    })
    expect(notesOf(look({}, 1, [other('/c', spoke('/c', [{ ...TERM, usd: 9 }]))]))).toEqual({})
  })

  test('of a payee is any address that is not published', () => {
    const pay = (...payouts: string[]) => [
      other(
        '/b',
        spoke(
          '/b',
          payouts.map((payout) => ({ ...TERM, payout })),
        ),
      ),
    ]
    expect(notesOf(look({}, 1, pay(PAYEE), [PAYEE]), [PAYEE])).toEqual({})
    expect(notesOf(look({}, 1, pay(PAYEE, OTHER), [PAYEE]), [PAYEE])).toEqual({
      payout_changed: `The payee of GET /b is ${PAYEE}, ${OTHER}; the listing says ${PAYEE}.`,
    })
  })

  test('of a payee where none is published is one that no look had seen before', () => {
    const pay = (payout: string) => [other('/b', spoke('/b', [{ ...TERM, payout }]))]
    const first = look({}, 1, [])
    // Asked for the first time: it cannot have changed.
    const second = look(first, 2, pay(OTHER))
    expect(notesOf(second)).toEqual({})
    const third = look(second, 3, pay(THIRD))
    expect(notesOf(third)).toEqual({
      payout_changed: `The payee of GET /b was ${OTHER} and is ${THIRD}.`,
    })
    expect(notesOf(look(third, 4, pay(OTHER)))).toEqual({})
    // Published or proved since: then nothing about it is news.
    expect(notesOf(third, [THIRD])).toEqual({})
  })

  test('of payees that change by design is none of each, once each was paid', () => {
    const rows = [1, 2, 3].map((n) => ({
      ...({ at: at(n), what: 'payee', name: 'GET /b', of: 'look' } as const),
      is: `eip155:8453:0x${String(n).repeat(40)}`,
    }))
    const idsOf = (isPaid: (payout: string) => boolean) =>
      toDriftNotices(rows.toReversed(), declared(), isPaid, at(4)).map(({ id }) => id)
    expect(idsOf(() => true)).toEqual(['payout_rotating'])
    expect(idsOf((payout) => payout !== rows[0]?.is)).toEqual(['payout_changed'])
  })

  test('of a network is seen at every operation', () => {
    const term = { ...TERM, network: 'eip155:137', payout: null }
    expect(notesOf(look({}, 1, [other('/c', spoke('/c', [term]))]))).toHaveProperty(
      'network_changed',
    )
  })

  test('is one sentence, however many operations and however long their names', () => {
    const path = `/${'long'.repeat(20)}`
    const finding = { ...spoke('/a', [{ ...TERM, usd: 9 }]), others: [] as OtherAnswer[] }
    const operations = ['1', '2', '3', '4'].map((end) => ({
      method: 'GET' as const,
      url: url(path + end),
      max_usd: 0.001,
    }))
    for (const { url: where } of operations)
      finding.others.push({
        operation: { method: 'GET', url: where },
        finding: spoke(where.replace(ORIGIN, ''), [TERM]),
      })
    const plan = { declared: { ...declared(), operations } }
    const after = mergeFinding({}, finding, plan, at(1))
    expect(v.parse(EvidenceSchema, after)).toEqual(after)
    const [notice] = toDriftNotices(after.drift ?? [], plan.declared, () => false, at(1))
    expect(notice?.note).toMatch(
      /^The price of GET \/long\S+1 is \$0\.01; the listing says at most \$0\.001\. 3 more differ\.$/,
    )
  })
})

test('an operation that asked to be left alone is heard by the next run', () => {
  const waits = failed('unknown', 429, 'status 429, retry after 3600 s')
  const evidence = look({}, 1, [other('/b', waits)])
  const candidate = toCandidate(planOf([get('/a', cost(0.1)), get('/b', cost(0.1))]), evidence)
  const due = (time: string) => orderByNeed([candidate], { now: Date.parse(time), staleMs: 0 })
  expect(due('2026-11-01T12:59:59Z')).toHaveLength(0)
  expect(due('2026-11-01T13:00:00Z')).toHaveLength(1)
})
