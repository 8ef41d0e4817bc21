import { existsSync } from 'node:fs'
import { describe, expect, test } from 'vitest'
import { readOpenApi } from '../../src/domain/sources/openapi.ts'
import { readPaymentInfo } from '../../src/domain/sources/payment-info.ts'
import { readJsonLines } from '../support/json-lines.ts'

interface Case {
  case: string
  info: unknown
  usd: [number, number] | null
  offers: string[]
  payees?: string[]
  placeholder?: string
}
interface FieldCase {
  shape: string
  usd: number | [number, number] | null
  document: object
}

describe('x-payment-info', () => {
  test.each(readJsonLines<Case>('test/fixtures/published/payment-info.ndjson'))(
    'is read: $case',
    ({ info, usd, offers, payees = [], placeholder }) => {
      const read = readPaymentInfo(info)
      expect(read.price).toEqual(
        usd === null ? undefined : { min_usd: usd[0], max_usd: usd[1], per: 'call' },
      )
      const places = (read.offers ?? []).map(({ rail, network }) =>
        [rail, network ?? []].flat().join(' '),
      )
      expect(places).toEqual(offers)
      expect([read.payees, read.placeholder]).toEqual([payees, placeholder])
    },
  )

  const FIELD = '../shared/data/field/x-payment-info.ndjson'
  if (!existsSync(FIELD)) console.warn(`skipped: ${FIELD} is not here`)
  test.skipIf(!existsSync(FIELD))('of the recorded reports has its price', () => {
    for (const { shape, usd, document } of readJsonLines<FieldCase>(FIELD)) {
      const [operation] = readOpenApi(document, ADDRESS)?.operations ?? []
      const [min_usd, max_usd] = [usd].flat()
      const price =
        min_usd === null ? undefined : { min_usd, max_usd: max_usd ?? min_usd, per: 'call' }
      expect([shape, operation?.price]).toEqual([shape, price])
    }
  })
})

const ADDRESS = 'https://api.shop.example/openapi.json'
const get = (operation: object = {}) => ({ get: { summary: 'Read', ...operation } })
const read = (document: object) => readOpenApi({ openapi: '3.1.0', ...document }, ADDRESS)
const urlsOf = (document: object) => read(document)?.operations.map(({ url }) => url)

describe('servers of an OpenAPI document', () => {
  const filledIn = (path: string, variables: object) => [
    { url: `https://{host}.shop.example${path}`, variables },
  ]
  test.each([
    ['none', undefined, 'https://api.shop.example/a'],
    ['a path', [{ url: '/v2' }], 'https://api.shop.example/v2/a'],
    ['one without an address first', [{}, { url: '/v2' }], 'https://api.shop.example/v2/a'],
    ['a path from where the document is', [{ url: './v2/' }], 'https://api.shop.example/v2/a'],
    ['its writer’s own machine', [{ url: 'http://localhost:4022' }], 'https://api.shop.example/a'],
    [
      'another host first',
      [{ url: 'https://cdn.shop.example' }, { url: 'https://api.shop.example/v1' }],
      'https://api.shop.example/v1/a',
    ],
    [
      'variables with defaults',
      filledIn('/{version}', { host: { default: 'api' }, version: { default: 'v3' } }),
      'https://api.shop.example/v3/a',
    ],
    [
      'a variable with choices',
      filledIn('', { host: { default: 'sandbox', enum: ['sandbox', 'api'] } }),
      'https://api.shop.example/a',
    ],
  ])('%s', (_, servers, url) => {
    expect(urlsOf({ servers, paths: { '/a': get() } })).toEqual([url])
  })

  test('of a path, and of one operation, come before those of the document', () => {
    const at = (path: string) => [{ url: `https://api.shop.example${path}` }]
    const paths = {
      '/a': { ...get(), servers: at('/path') },
      '/b': { servers: at('/path'), ...get({ servers: at('/own') }) },
    }
    expect(urlsOf({ servers: at('/all'), paths })).toEqual([
      'https://api.shop.example/path/a',
      'https://api.shop.example/own/b',
    ])
  })

  test('elsewhere, or with a variable that nobody fills in, are nobody’s here', () => {
    for (const url of ['https://other.example', 'https://{tenant}.shop.example', 'nonsense:'])
      expect(urlsOf({ servers: [{ url }], paths: { '/a': get() } })).toEqual([])
  })
})

describe('references within an OpenAPI document', () => {
  test('are followed: to a path, a parameter, a body, an answer, a schema, a payment', () => {
    const schema = { type: 'string', enum: ['a', 'b'] }
    const Shop = { name: 'shop', in: 'path', required: true, schema }
    const Item = { type: 'object', properties: { id: { type: 'string' } }, required: ['id'] }
    const content = { 'application/json': { schema: { $ref: '#/components/schemas/Item' } } }
    const post = {
      summary: 'Order',
      parameters: [{ $ref: '#/components/parameters/Shop' }],
      requestBody: { $ref: '#/components/requestBodies/Item' },
      responses: { '200': { $ref: '#/components/responses/Item' } },
      'x-payment-info': { $ref: '#/components/x-payments/one' },
    }
    const document = {
      paths: { '/orders/{shop}': { $ref: '#/components/pathItems/orders' } },
      components: {
        pathItems: { orders: { post } },
        parameters: { Shop },
        requestBodies: { Item: { content } },
        responses: { Item: { content } },
        schemas: { Item },
        'x-payments': { one: { price: '0.01', protocols: ['x402'] } },
      },
    }
    expect(read(document)?.operations).toEqual([
      {
        method: 'POST',
        url: 'https://api.shop.example/orders/{shop}',
        description: 'Order',
        price: { min_usd: 0.01, max_usd: 0.01, per: 'call' },
        offers: [{ rail: 'x402', min_usd: 0.01, max_usd: 0.01 }],
        params: [Shop],
        body: { content_type: 'application/json', schema: Item },
        response: { content_type: 'application/json', schema: Item, ref: ADDRESS },
      },
    ])
  })

  test('to another document, to nothing or in a ring are left out, and the operation stays', () => {
    const paths = {
      '/a': get({
        parameters: [
          { $ref: 'https://else.example/#/x' },
          { $ref: '#/components/parameters/none' },
        ],
        responses: { '200': { $ref: '#/components/responses/ring' } },
      }),
    }
    const responses = { ring: { $ref: '#/components/responses/ring' } }
    expect(read({ paths, components: { responses } })?.operations).toEqual([
      { method: 'GET', url: 'https://api.shop.example/a', description: 'Read' },
    ])
  })

  test('a shape that is no JSON Schema costs its parameter the shape, not the seller the operation', () => {
    // OpenAPI 3.0 wrote exclusive bounds as true.
    const schema = { type: 'number', minimum: 0, exclusiveMinimum: true }
    const parameters = [{ name: 'usd', in: 'query', schema, example: 5 }]
    const content = { 'application/json': { example: { tide: 'high' } } }
    const own = get({ parameters, responses: { default: { content } } })
    const [operation] = read({ openapi: '3.0.3', paths: { '/a': own } })?.operations ?? []
    expect(operation?.response).toMatchObject(content['application/json'])
    expect(operation?.params).toEqual([{ name: 'usd', in: 'query', schema: { type: 'number' } }])
  })
})

test('a document of 3.0 keeps what may be null, at a server filled in by its default', () => {
  const Berth = {
    type: 'object',
    required: ['id'],
    properties: {
      id: { type: 'string' },
      mooring: { $ref: '#/components/schemas/Mooring' },
      state: { type: 'string', nullable: true, enum: ['free', 'taken'] },
      booked_until: { type: 'string', format: 'date-time', nullable: true },
    },
    example: { id: '3f1a', mooring: null, state: null, booked_until: null },
  }
  const Mooring = { nullable: true, type: 'object', properties: { nullable: { type: 'boolean' } } }
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/Berth' } } }
  const [operation] =
    read({
      openapi: '3.0.3',
      servers: [
        {
          url: 'https://{harbour_host}',
          variables: { harbour_host: { default: 'api.shop.example' } },
        },
      ],
      paths: { '/berths/{id}': { patch: { responses: { '200': { content } } } } },
      components: { schemas: { Berth, Mooring } },
    })?.operations ?? []
  expect(operation).toMatchObject({
    url: 'https://api.shop.example/berths/{id}',
    response: {
      schema: {
        properties: {
          mooring: { type: ['object', 'null'], properties: { nullable: { type: 'boolean' } } },
          state: { type: ['string', 'null'], enum: ['free', 'taken', null] },
          booked_until: { type: ['string', 'null'] },
        },
      },
      example: Berth.example,
    },
  })
})

test('of very many parameters the required ones stay', () => {
  const optional = Array.from({ length: 40 }, (_, n) => ({ name: `o${n}`, in: 'query' }))
  const needed = ['query', 'cookie', 'header'].map((place) => ({
    ...{ name: place, in: place, required: true },
  }))
  const parameters = [...optional, ...needed, { name: 'x'.repeat(1000), in: 'query' }]
  const [operation] = read({ paths: { '/{port}': get({ parameters }) } })?.operations ?? []
  expect(operation?.params).toHaveLength(30)
  expect(operation?.params?.slice(-3).map(({ name }) => name)).toEqual(['query', 'header', 'port'])
})

test('a table of prices for the whole document prices its operations', () => {
  const endpoints = { 'GET /a': { price_usdc: 0.02 }, 'POST /b': { price_usdc: 0 } }
  const document = {
    info: { title: 'Shop', 'x-payment-info': { endpoints } },
    paths: { '/a': get(), '/b': { post: { summary: 'Write' } } },
  }
  expect(read(document)?.operations.map(({ price }) => price?.max_usd)).toEqual([0.02, 0])
})

test.each(['info', 'document'])(
  'a price in members of the writer’s own prices its operation: ways to pay in its %s',
  (place) => {
    const ways = { 'x-x402': { network: 'base', payee: `0x${'11'.repeat(20)}` } }
    const info = { title: 'Tides', description: ' \u200b', ...(place === 'info' && ways) }
    const paths = { '/a': get({ 'x-x402-price': '$0.001' }) }
    const document = { openapi: '3.1.0', info, paths, ...(place === 'document' && ways) }
    const read = readOpenApi(document, 'https://api.shop.example/openapi.json')
    expect(read?.description).toBeNull()
    expect(read?.operations).toMatchObject([
      { price: { max_usd: 0.001 }, offers: [{ rail: 'x402', network: 'eip155:8453' }] },
    ])
    expect(read?.payees).toEqual([`eip155:8453:0x${'11'.repeat(20)}`])
  },
)

test('no other document is one', () => {
  for (const document of [
    null,
    [],
    { openapi: '2.0', paths: {} },
    { swagger: '2.0', paths: {} },
    { openapi: '3.0.0' },
  ])
    expect(readOpenApi(document, ADDRESS)).toBeNull()
})
