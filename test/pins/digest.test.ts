import fc from 'fast-check'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { payeesOf } from '../../src/domain/derived/derived-listing.ts'
import { toSurface } from '../../src/domain/derived/surface.ts'
import { createListingFactsSchema } from '../../src/domain/listing/listing-facts.ts'
import { toDigest } from '../../src/domain/relay/pins.ts'
import { toCanonicalJson } from '../../src/domain/wire/json.ts'
import { replaceAt } from '../support/replace-at.ts'

const RULES = { allowPrivate: false }
const PAYEE = 'eip155:8453:0x1111111111111111111111111111111111111111'
const OTHER = 'eip155:8453:0x2222222222222222222222222222222222222222'
const AT = '2026-11-20T00:00:00Z'

const PAID = {
  name: 'Weather',
  kind: 'http_api',
  url: 'https://api.weather.example/v1',
  summary: 'The weather.',
  pricing: {
    model: 'per_call',
    min_usd: 0.01,
    max_usd: 0.02,
    rails: ['x402'],
    networks: ['eip155:8453'],
  },
  payout: [PAYEE],
  http: [
    {
      method: 'GET',
      url: 'https://api.weather.example/v1/now',
      description: 'Weather now.',
      price: { min_usd: 0.01, max_usd: 0.01, per: 'call' },
      params: [
        { name: 'city', in: 'query', required: true, schema: { type: 'string' }, example: 'Oslo' },
        { name: 'unit', in: 'query', schema: { type: 'string', enum: ['c', 'f'] } },
      ],
    },
    {
      method: 'POST',
      url: 'https://api.weather.example/v1/plan',
      body: { schema: { type: 'object', required: ['a', 'b'], properties: { a: {}, b: {} } } },
    },
  ],
  sources: [{ source: 'waypost', ref: 'https://weather.example/' }],
  added: '2026-11-20',
}

const TOOLS = {
  ...PAID,
  kind: 'mcp_server',
  pricing: { model: 'unknown' },
  payout: [],
  http: [],
  invoke: [{ kind: 'mcp', transport: 'streamable-http', url: 'https://mcp.weather.example/mcp' }],
  tools: [
    {
      name: 'now',
      description: 'Weather now.',
      input_schema: { type: 'object', properties: { city: { type: 'string' } } },
    },
    { name: 'plan', description: 'Plans a week.' },
  ],
}

function digestOf(front: object): string {
  const facts = v.parse(createListingFactsSchema(RULES), front)
  const surface = toSurface(facts, undefined, RULES)
  return toDigest({ ...facts, ...surface, payees: payeesOf(facts, surface, undefined, false) })
}

test('canonical JSON is that of RFC 8785', () => {
  expect(
    toCanonicalJson({ 10: 'a', 9: 'b', '\u20ac': 1e21, '\r': [1, -0, 0.1], z: null, u: undefined }),
  ).toBe('{"\\r":[1,0,0.1],"10":"a","9":"b","z":null,"€":1e+21}')
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      expect(JSON.parse(toCanonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
    }),
  )
})

describe('the digest', () => {
  test('is the same bytes on every machine', () => {
    expect([digestOf(PAID), digestOf(TOOLS)]).toMatchInlineSnapshot(`
      [
        "71HBS2km2CGo-LZUOrM4i9YDB5_gyo0G0UxHUfiK7t8",
        "Ur97qESop4y-T7n88Hf0I9VsnjCYXuPZE-djAlLyTIQ",
      ]
    `)
  })

  test('does not depend on the order in which keys, operations or tools were written', () => {
    const shuffled = (value: unknown, turn: number): unknown => {
      if (Array.isArray(value)) {
        const rows = value.map((each) => shuffled(each, turn))
        return [...rows.slice(turn % rows.length), ...rows.slice(0, turn % rows.length)]
      }
      if (typeof value !== 'object' || value === null) return value
      const members = Object.entries(value).map(([key, each]) => [key, shuffled(each, turn)])
      return Object.fromEntries([...members.slice(turn), ...members.slice(0, turn)])
    }
    fc.assert(
      fc.property(fc.constantFrom(PAID, TOOLS), fc.nat(12), (front, turn) => {
        expect(digestOf(Object(shuffled(front, turn)))).toBe(digestOf(front))
      }),
    )
  })

  test.each([
    ['the name', 'name', 'Another name'],
    ['the summary', 'summary', 'Another sentence.'],
    ['what an operation is said to do', 'http.0.description', 'The weather at this moment.'],
    ['an example', 'http.0.params.0.example', 'Lima'],
    ['a source', 'sources.0.ref', 'https://weather.example/other'],
    ['a tag', 'tags', ['rain']],
    [
      'the case of an address',
      'payout.0',
      PAYEE.toUpperCase().replace('EIP155:8453:0X', 'eip155:8453:0x'),
    ],
  ] as const)('does not change with %s', (_, path, value) => {
    expect(digestOf(replaceAt(PAID, path, value))).toBe(digestOf(PAID))
  })
})

describe('payees', () => {
  const seen = (pay_to: string[]) => ({
    operations: [
      {
        method: 'GET' as const,
        url: 'https://x.example/',
        seen: { at: AT, outcome: 'spoke' as const, pay_to },
      },
    ],
  })
  const read = { payouts: [{ payout: OTHER, network: 'eip155:8453', seen_at: AT }] }

  test('are those published and those of the last 402', () => {
    expect(payeesOf({ payout: [PAYEE] }, seen([OTHER]), read, false)).toEqual([PAYEE, OTHER])
    expect(payeesOf({ payout: [] }, { operations: [] }, read, false)).toEqual([OTHER])
  })

  test('an address of an earlier 402 is none any more', () => {
    const moved = {
      payouts: [
        {
          ...read.payouts[0],
          payout: PAYEE,
          seen_at: '2026-11-21T00:00:00Z',
          network: 'eip155:8453',
        },
        ...read.payouts,
      ],
    }
    expect(payeesOf({ payout: [] }, { operations: [] }, moved, false)).toEqual([PAYEE])
  })

  test('of a seller that names another each time are those it publishes', () => {
    expect(payeesOf({ payout: [PAYEE] }, seen([OTHER]), read, true)).toEqual([PAYEE])
  })
})
