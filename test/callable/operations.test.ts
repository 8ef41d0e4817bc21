import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import { createListingFactsSchema } from '../../src/domain/listing/listing-facts.ts'
import { findOperationFaults, toExampleRequest } from '../../src/domain/listing/operation.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import {
  findFactFaults,
  PUBLIC,
  SAMPLE_FACTS,
  toFacts,
  toListing,
  VIEW_CONTEXT,
} from '../domain/listing-samples.ts'

const USERS = 'https://api.weather.example/users/{id}'
const ID = { name: 'id', in: 'path', example: 7 }
const get = (more: object = {}) => ({ method: 'GET', url: SAMPLE_FACTS.url, ...more })

/** What `check` says between the fields of a listing with these operations. */
function faultsOf(http: object[], changes: Record<string, unknown> = {}): string[] {
  return findOperationFaults(toFacts({ http, ...changes })).map(
    ({ path, message }) => `${path.join('.')}: ${message}`,
  )
}

describe('operations that fit together have no faults', () => {
  test.each([
    [[get()]],
    [[{ method: 'GET', url: USERS, params: [ID] }]],
    [[get({ price: { min_usd: 0.01, max_usd: 0.05, per: 'call' } })]],
    [[get({ price: { min_usd: 9, max_usd: 9, per: 'minute' } })]],
    [
      [
        get({
          price: { min_usd: 0.02, max_usd: 0.02, per: 'call' },
          offers: [{ rail: 'x402', network: 'eip155:8453', min_usd: 0.02, max_usd: 0.02 }],
        }),
      ],
    ],
  ])('%j', (http) => {
    expect(faultsOf(http)).toEqual([])
  })
})

describe('operations that do not are named', () => {
  test.each([
    [
      [{ method: 'GET', url: USERS }],
      'http.0.url: expected {id} to be declared in params, as { name: id, in: path, … }',
    ],
    [
      [get({ params: [ID] })],
      'http.0.params.0.name: expected {id} in the path of url, which lacks it',
    ],
    [
      [{ method: 'GET', url: USERS, params: [{ ...ID, required: false }] }],
      'http.0.params.0.required: expected true: a path parameter cannot be left out',
    ],
    [
      [get({ params: [{ name: 'q', in: 'query', schema: { type: 'string' }, example: 7 }] })],
      'http.0.params.0.example: expected a value that fits the schema: Instance type "number" is invalid. Expected "string".',
    ],
    [
      [
        get({
          params: [
            { name: 'X-Key', in: 'header' },
            { name: 'x-key', in: 'header' },
          ],
        }),
      ],
      'http.0.params.1: expected each parameter once, got header x-key again',
    ],
    [[get({ body: {} })], 'http.0.body: expected no body for a GET: use params'],
    [
      [
        {
          method: 'POST',
          url: SAMPLE_FACTS.url,
          body: { schema: { required: ['q'] }, example: {} },
        },
      ],
      'http.0.body.example: expected a value that fits the schema: Instance does not have required property "q".',
    ],
    [
      [get({ response: { schema: { type: 'array' }, example: {} } })],
      'http.0.response.example: expected a value that fits the schema: Instance type "object" is invalid. Expected "array".',
    ],
    [[get(), get()], `http.1: expected each operation once, got GET ${SAMPLE_FACTS.url} again`],
    [
      [get({ price: { min_usd: 0.05, max_usd: 0.01, per: 'call' } })],
      'http.0.price.max_usd: expected max_usd to be at least min_usd',
    ],
    [
      [get({ price: { min_usd: 0.01, max_usd: 0.06, per: 'call' } })],
      `http.0.price: expected pricing to cover GET ${SAMPLE_FACTS.url} at 0.01 to 0.06 USD; it is 0.01 to 0.05`,
    ],
    [
      [
        get({
          price: { min_usd: 0.02, max_usd: 0.02, per: 'call' },
          offers: [{ rail: 'x402', network: 'eip155:8453', min_usd: 0.03, max_usd: 0.03 }],
        }),
      ],
      "http.0.offers.0: expected an offer within the operation's price range of 0.02 to 0.02 USD",
    ],
    [
      [get({ offers: [{ rail: 'x402', network: 'eip155:8453', min_usd: 0.05, max_usd: 0.01 }] })],
      'http.0.offers.0.max_usd: expected max_usd to be at least min_usd',
    ],
    [
      [get({ offers: Array(2).fill({ rail: 'x402', min_usd: 0.02, max_usd: 0.02 }) })],
      'http.0.offers.1: expected each offer once, got x402 on no network again',
    ],
    [
      [get({ offers: [{ rail: 'mpp', network: 'eip155:4217', min_usd: 0.02, max_usd: 0.02 }] })],
      "pricing.rails: expected exactly the values in the operations' offers: mpp",
    ],
  ])('%j', (http, message) => {
    expect(faultsOf(http)[0]).toBe(message)
  })

  test('offers without a price of the listing', () => {
    const offers = [{ rail: 'x402', network: 'eip155:8453', min_usd: 1, max_usd: 1 }]
    expect(faultsOf([get({ offers })], { pricing: { model: 'unknown' } })).toEqual([
      'pricing: expected model per_call: an operation has offers, so the listing has a price',
    ])
  })
})

describe('the shape of what makes a listing callable', () => {
  test.each([
    [{ cost: 'cheap' }, /^cost: expected one of free, freemium, paid, unknown$/],
    [{ auth: { type: 'api_key', in: 'header' } }, /expected both `in` and `name`, or neither/],
    [{ auth: { type: 'bearer', in: 'header' } }, /^auth\.in: /],
    [{ auth: { type: 'magic' } }, /^auth\.type: expected type to be one of none, payment/],
    [
      { http: [get({ body: { schema: { $ref: 'https://x.example/' } } })] },
      /expected \$ref to name a place/,
    ],
    [{ http: [get({ assumed: ['luck'] })] }, /expected one of method, url, price/],
    [{ http: [get({ url: 'https://{host}.example/' })] }, /^http\.0\.url: /],
    [{ version: '^1.2.0' }, /expected one fixed version/],
    [{ version: 'latest' }, /expected one fixed version/],
    [{ registry_name: 'weather' }, /expected a name such as com\.example\/weather/],
    [{ probe: 'no' }, /^probe: expected true or false$/],
    [
      {
        invoke: [
          {
            kind: 'mcp_package',
            transport: 'stdio',
            registry: 'npm',
            identifier: 'a',
            env: [{ name: 'A B' }],
          },
        ],
      },
      /expected the name of an environment variable/,
    ],
  ])('%j is refused', (changes, message) => {
    expect(findFactFaults(changes).join('\n')).toMatch(message)
  })

  test('a price says paid, its absence nothing', () => {
    const costOf = (facts: object) =>
      toListingView(toListing({ facts: { ...facts } }), VIEW_CONTEXT).cost
    expect(costOf({})).toBe('paid')
    expect(costOf({ pricing: { model: 'unknown' } })).toBe('unknown')
    expect(costOf({ pricing: { model: 'unknown' }, cost: 'freemium' })).toBe('freemium')
  })
})

describe('the example request', () => {
  const request = (operation: object, auth: object = { type: 'none' }) => {
    const facts = v.parse(createListingFactsSchema(PUBLIC), {
      ...SAMPLE_FACTS,
      auth,
      http: [operation],
    })
    const [first] = facts.http
    return first === undefined ? undefined : toExampleRequest(first, facts.auth)
  }

  test('fills the path, the query and the headers, each in its own encoding', () => {
    const params = [
      { name: 'id', in: 'path', example: 'a/b c' },
      { name: 'q', in: 'query', example: "it's & more" },
      { name: 'lang', in: 'query', required: true },
      { name: 'page', in: 'query', schema: { type: 'integer' } },
      { name: 'X-Trace', in: 'header', required: true, schema: { enum: ['on', 'off'] } },
    ]
    expect(request({ method: 'GET', url: USERS, params })).toEqual({
      method: 'GET',
      url: "https://api.weather.example/users/a%2Fb%20c?q=it's%20%26%20more&lang=<LANG>",
      headers: { 'X-Trace': 'on' },
    })
  })

  test.each([
    [{ type: 'bearer' }, { Authorization: 'Bearer <TOKEN>' }, ''],
    [{ type: 'oauth' }, { Authorization: 'Bearer <TOKEN>' }, ''],
    [{ type: 'api_key', in: 'header', name: 'X-API-Key' }, { 'X-API-Key': '<API_KEY>' }, ''],
    [{ type: 'api_key', in: 'query', name: 'appid' }, {}, '?appid=<API_KEY>'],
    [{ type: 'payment' }, {}, ''],
  ])('%j goes where it belongs', (auth, headers, query) => {
    expect(request(get(), auth)).toMatchObject({ headers, url: `${SAMPLE_FACTS.url}${query}` })
  })

  test('a body is the example, else what its schema needs', () => {
    const schema = {
      type: 'object',
      required: ['city'],
      properties: { city: { type: 'string' }, days: { type: 'integer' } },
    }
    const bodyOf = (body: object) => request({ method: 'POST', url: SAMPLE_FACTS.url, body })?.body
    expect(bodyOf({ schema, example: { city: 'Oslo' } })).toEqual({ city: 'Oslo' })
    expect(bodyOf({ schema })).toEqual({ city: '<CITY>' })
    expect(bodyOf({})).toEqual({})
  })
})

describe('what people wrote and what machines read', () => {
  const read = {
    at: '2026-11-01T00:00:00Z',
    from: 'openapi' as const,
    operations: [
      {
        method: 'GET' as const,
        url: SAMPLE_FACTS.url,
        description: 'Read by a machine',
        safe: true,
      },
      { method: 'GET' as const, url: 'https://api.weather.example/tides' },
      { method: 'GET' as const, url: 'https://elsewhere.example/tides' },
    ],
  }

  test('add up field by field: people win, and only the own origin joins', () => {
    const listing = toListing({
      facts: { http: [get({ description: 'Written by a person' })] },
      evidence: { interface: read },
    })
    expect(listing.surface.operations).toEqual([
      { ...get({ description: 'Written by a person' }), safe: true, effect: 'read' },
      { method: 'GET', url: 'https://api.weather.example/tides', effect: 'read' },
    ])
  })

  test('what a call changes is declared, or said by the method', () => {
    const url = 'https://api.weather.example/v1/orders'
    const http = [
      { method: 'POST' as const, url },
      { method: 'POST' as const, url: `${url}/search`, effect: 'read' as const },
      { method: 'GET' as const, url: `${url}/card`, effect: 'pay' as const },
      { method: 'GET' as const, url },
      { method: 'PUT' as const, url },
      { method: 'DELETE' as const, url },
    ]
    const { operations } = toListing({ facts: { http } }).surface
    const effects = operations.map(({ effect }) => effect)
    expect(effects).toEqual([undefined, 'read', 'pay', 'read', 'write', 'delete'])
  })

  test('notices stand newest first', () => {
    const old = { id: 'price_changed' as const, note: 'Was 0.01.', at: '2026-10-01T00:00:00Z' }
    const listing = toListing({
      evidence: { notices: [old, { ...old, at: '2026-11-01T00:00:00Z' }] },
    })
    expect(listing.notices.map(({ at }) => at)).toEqual([
      '2026-11-01T00:00:00Z',
      '2026-10-01T00:00:00Z',
    ])
  })
})
