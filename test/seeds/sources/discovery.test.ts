import * as v from 'valibot'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { findSeller, toNothing } from '../../../functions/probes/find-seller.ts'
import { discovery } from '../../../seeds/sources/discovery.ts'
import { joinEvidence } from '../../../src/content/join.ts'
import { readOpenApi } from '../../../src/domain/sources/openapi.ts'
import { readX402Manifest } from '../../../src/domain/sources/x402-manifest.ts'
import { EvidenceSchema } from '../../../src/domain/trust/evidence.ts'
import { createTestClient } from '../../probe/probe-world.ts'
import { type Site, sendJson, startSite } from '../../support/site.ts'
import { createContentFixture } from '../content-fixture.ts'
import { RULES } from '../map-row.ts'

const OPENAPI = (origin: string) => ({
  openapi: '3.1.0',
  info: { title: 'Harbour Tides', description: 'Tides of harbours.' },
  servers: [{ url: `${origin}/v1` }],
  paths: {
    '/tide/{harbour}': {
      get: {
        summary: 'Tide for a harbour',
        parameters: [
          { name: 'harbour', in: 'path', required: true, schema: { type: 'string' } },
          { name: 'day', in: 'query', schema: { type: 'string' }, example: '2026-11-20' },
        ],
        'x-payment-info': {
          protocols: ['x402'],
          price: { mode: 'fixed', currency: 'USD', amount: '0.05' },
        },
      },
    },
  },
})

const card = (url: string) => ({ type: 'application/a2a-agent-card+json', url })

let content: ReturnType<typeof createContentFixture>
let seller: Site
beforeEach(async () => {
  content = createContentFixture()
  seller = await startSite((request, response) => {
    if (request.url === '/openapi.json') return sendJson(response, OPENAPI(seller.url))
    if (request.url === '/llms.txt') return response.end('# Harbour Tides\n\n> Tides.\n')
    // A page for everything: what many hosts answer to any address.
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><h1>Hello</h1>')
  })
  content.write(
    'listings/x402/tides.md',
    `---\nname: Tides\nkind: http_api\nurl: ${seller.url}/v1/tide\nsummary: By hand.\nsources:\n  - { source: vendor_docs, ref: "https://tides.example" }\nadded: 2026-01-01\n---\n`,
  )
})
afterEach(async () => {
  content.cleanUp()
  await seller.close()
})

const discover = (allowPrivate = true) =>
  content.seed({ importer: 'discovery', from: null, allowPrivate })

describe('discovery', () => {
  test('a seller’s own files become the listing’s discovery, its operations evidence', async () => {
    const result = await discover()
    expect(result.plan.outcomes).toMatchObject([{ outcome: 'merged' }])
    expect(content.listing('listings/x402/tides.md')).toContain(
      `discovery:\n  openapi: ${seller.url}/openapi.json\n  llms_txt: ${seller.url}/llms.txt\n`,
    )
    expect(content.read('listings/x402/tides.md')).toContain('name: Tides\n')
    // The operations stand on this machine, which content does not take; the reading is tested below.
    expect(seller.requested.filter((path) => path === '/openapi.json')).toHaveLength(1)
  })

  test('a page of HTML at a well-known address is no such file', async () => {
    await discover()
    expect(content.listing('listings/x402/tides.md')).not.toContain('agent_card')
    expect(content.listing('listings/x402/tides.md')).not.toContain('x402_manifest')
  })

  test('an MCP server card is read: its tools, with what they cost', async () => {
    const tool = { name: 'find_tide', description: 'Finds.', inputSchema: { type: 'object' } }
    const _meta = { 'agents-x402/priceUSD': 0.01 }
    seller.answer = (request, response) => {
      const card = {
        serverInfo: { name: 'tides', version: '1.0.0' },
        transport: { type: 'streamable-http', endpoint: '/mcp' },
        tools: [{ ...tool, _meta, annotations: null }, 7],
      }
      if (request.url === '/.well-known/mcp/server-card.json') return sendJson(response, card)
      response.writeHead(404).end()
    }
    const client = createTestClient()
    const found = await findSeller(seller.url, client)
    await client.close()
    expect(found.files).toEqual({ mcp_card: `${seller.url}/.well-known/mcp/server-card.json` })
    const target = { id: 'mcp.tides', kind: 'mcp_server', name: 'Tides', origin: seller.url }
    const { seeds } = discovery.choose([{ target, found }], RULES)
    expect(seeds[0]?.evidence?.interface).toMatchObject({
      from: 'server_card',
      tools: [{ name: 'find_tide', price: { max_usd: 0.01 } }],
    })
    expect(v.is(EvidenceSchema, seeds[0]?.evidence)).toBe(true)
  })

  test('an ARD manifest is read, and the agent card it names on the same host', async () => {
    seller.answer = (request, response) => {
      if (request.url === '/cards/tides.json')
        return sendJson(response, { name: 'Tides', url: `${seller.url}/a2a`, skills: [] })
      const entries = [
        card('https://else.example/card.json'),
        card(`${seller.url}/cards/tides.json`),
        7,
      ]
      if (request.url === '/.well-known/ard.json') return sendJson(response, { entries })
      response.writeHead(404).end()
    }
    await discover()
    expect(content.listing('listings/x402/tides.md')).toContain(
      `agent_card: ${seller.url}/cards/tides.json\n  ard: ${seller.url}/.well-known/ard.json\n`,
    )
  })

  test('a second run changes nothing', async () => {
    await discover()
    const before = content.snapshot()
    await discover()
    expect(content.snapshot()).toEqual(before)
  })

  test('sellers on this machine are not read: nothing is asked', async () => {
    const result = await discover(false)
    expect(result.plan.outcomes).toEqual([])
    expect(seller.requested).toEqual([])
  })
})

describe('an OpenAPI document', () => {
  const ORIGIN = 'https://tides.example'

  test('gives operations with places, parameters and price', () => {
    expect(readOpenApi(OPENAPI(ORIGIN), ORIGIN)).toEqual({
      title: 'Harbour Tides',
      description: 'Tides of harbours.',
      operations: [
        {
          method: 'GET',
          url: `${ORIGIN}/v1/tide/{harbour}`,
          description: 'Tide for a harbour',
          price: { min_usd: 0.05, max_usd: 0.05, per: 'call' },
          offers: [{ rail: 'x402', min_usd: 0.05, max_usd: 0.05 }],
          params: [
            { name: 'harbour', in: 'path', required: true, schema: { type: 'string' } },
            { name: 'day', in: 'query', schema: { type: 'string' }, example: '2026-11-20' },
          ],
        },
      ],
      payees: [],
      truncated: false,
    })
  })

  test('says what comes back: references are filled in, and the document is named', () => {
    const Tide = {
      type: 'object',
      properties: {
        height: { type: 'number', nullable: true },
        next: { $ref: '#/components/schemas/Tide' },
      },
    }
    const content = {
      'application/json; charset=utf-8': {
        schema: { $ref: '#/components/schemas/Tide' },
        examples: { high: { value: { height: 3.2 } } },
      },
    }
    const answers = { '404': {}, '200': { $ref: '#/components/responses/Tide' } }
    const document = {
      openapi: '3.0.3',
      paths: { '/tide': { get: { summary: 'Tide', responses: answers } } },
      components: { schemas: { Tide }, responses: { Tide: { content } } },
    }
    const address = `${ORIGIN}/openapi.json`
    expect(readOpenApi(document, address)?.operations[0]?.response).toEqual({
      content_type: 'application/json',
      schema: { type: 'object', properties: { height: { type: ['number', 'null'] }, next: {} } },
      example: { height: 3.2 },
      ref: address,
    })
  })

  test.each([
    ['an example that its schema does not take', { example: { height: 'high' } }],
    ['a very long example', { example: { height: 1, more: 'x'.repeat(5000) } }],
  ])('leaves out %s', (_, more) => {
    const schema = { type: 'object', properties: { height: { type: 'number' } } }
    const answers = { '201': { content: { 'application/json': { schema, ...more } } } }
    const paths = { '/tide': { post: { summary: 'Tide', responses: answers } } }
    const api = readOpenApi({ openapi: '3.1.0', paths }, ORIGIN)
    expect(api?.operations[0]?.response).toEqual({
      ...{ content_type: 'application/json', schema, ref: ORIGIN },
    })
  })

  test('of another origin gives none of its operations', () => {
    expect(readOpenApi(OPENAPI('https://elsewhere.example'), ORIGIN)?.operations).toEqual([])
  })

  test('with more operations than a listing holds is cut, and says so', () => {
    const paths = Object.fromEntries(
      Array.from({ length: 300 }, (_, i) => [`/p${i}`, { get: { summary: `Path ${i}` } }]),
    )
    const api = readOpenApi({ openapi: '3.1.0', paths }, ORIGIN)
    expect(api?.operations).toHaveLength(100)
    expect(api?.truncated).toBe(true)
  })

  test.each([[null], ['text'], [[]], [{ swagger: '2.0', paths: {} }], [{ openapi: '3.1.0' }]])(
    '%j is none',
    (document) => {
      expect(readOpenApi(document, ORIGIN)).toBeNull()
    },
  )
})

test('where callers of a remote server sign in becomes evidence, once for each address', async () => {
  const metadata = (origin: string): Record<string, object> => ({
    '/.well-known/oauth-protected-resource/mcp': {
      resource: `${origin}/mcp`,
      authorization_servers: [origin],
    },
    '/.well-known/oauth-authorization-server': {
      issuer: origin,
      token_endpoint: `${origin}/token`,
      registration_endpoint: `${origin}/register`,
    },
  })
  seller.answer = (request, response) => {
    const file = metadata(seller.url)[request.url ?? '']
    return file === undefined ? response.writeHead(404).end() : sendJson(response, file)
  }
  for (const [id, auth] of [
    ['ferry', 'oauth'],
    ['tram', 'api_key'],
  ])
    content.write(
      `listings/mcp/${id}.md`,
      `---\nname: ${id}\nkind: mcp_server\nurl: ${seller.url}/mcp\nsummary: By hand.\nauth: { type: ${auth} }\ninvoke: [{ kind: mcp, transport: streamable-http, url: "${seller.url}/mcp" }]\nsources:\n  - { source: vendor_docs, ref: "https://tides.example" }\nadded: 2026-01-01\n---\n`,
    )
  await discover()
  const rows = content.read('sources/discovery/rows.json')
  expect(JSON.parse(rows).rows).toMatchObject({
    'mcp.ferry': {
      evidence: {
        sign_in: {
          resource: `${seller.url}/mcp`,
          authorization_server: seller.url,
          token_endpoint: `${seller.url}/token`,
          registration_endpoint: `${seller.url}/register`,
        },
      },
    },
  })
  expect(JSON.parse(rows).rows['mcp.tram']).toBeUndefined()
})

describe('what a seller’s documents say of paying', () => {
  const ORIGIN = 'https://tides.example'
  const PAYEE = `0x${'2'.repeat(40)}`
  const accept = {
    scheme: 'exact',
    network: 'base',
    maxAmountRequired: '20000',
    asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  }
  const manifestWith = (payTo: string) =>
    readX402Manifest(
      {
        x402Version: 1,
        resources: [{ resource: `${ORIGIN}/v1/moon`, accepts: [{ ...accept, payTo }] }],
      },
      `${ORIGIN}/.well-known/x402`,
    )
  const choose = (id: string, payTo = PAYEE) => {
    const api = readOpenApi(OPENAPI(ORIGIN), `${ORIGIN}/openapi.json`)
    const target = { id, kind: 'http_api', origin: ORIGIN, name: 'Tides' }
    const found = { ...toNothing(ORIGIN, null), api, manifest: manifestWith(payTo) }
    return discovery.choose([{ target, found }], RULES)
  }

  test('are facts of a paid listing: prices, networks, payees, and its operations with them', () => {
    const [seed] = choose('x402.tides').seeds
    expect(seed?.facts).toMatchObject({
      cost: 'paid',
      pricing: {
        ...{ model: 'per_call', min_usd: 0.02, max_usd: 0.05 },
        ...{ rails: ['x402'], networks: ['eip155:8453'] },
      },
    })
    expect(seed?.evidence?.interface).toMatchObject({
      from: 'openapi',
      operations: [
        { url: `${ORIGIN}/v1/tide/{harbour}`, price: { max_usd: 0.05 } },
        { url: `${ORIGIN}/v1/moon`, price: { max_usd: 0.02 }, assumed: ['method'] },
      ],
    })
    expect(seed?.payees).toEqual([{ payee: `eip155:8453:${PAYEE}` }])
  })

  test('of what is listed as unpaid are prices of its operations alone', () => {
    const [seed] = choose('api.tides').seeds
    expect(seed?.facts).not.toHaveProperty('pricing')
    expect(seed?.evidence?.interface).toHaveProperty('operations')
  })

  test('a template’s wallet is named, and nobody’s payee', () => {
    const { seeds } = choose('x402.tides', 'YOUR_WALLET_ADDRESS')
    expect(seeds.flatMap(({ payees }) => payees)).toEqual([])
    expect(seeds.flatMap(({ dropped }) => dropped)).toEqual([
      {
        reason: 'known_fake',
        name: 'x402.tides',
        detail: 'payTo: expected a wallet, got the placeholder "YOUR_WALLET_ADDRESS"',
      },
    ])
  })

  test('stay where a probe came later and saw some of the operations', () => {
    const [seed] = choose('x402.tides').seeds
    const operation = { method: 'GET', url: `${ORIGIN}/v1/moon` } as const
    const seen = { outcome: 'spoke', min_usd: 0.03, max_usd: 0.03 } as const
    const price = { min_usd: 0.03, max_usd: 0.03, per: 'call' } as const
    const probed = {
      interface: {
        ...{ at: '2026-11-21T00:00:00Z', from: 'x402' as const },
        operations: [{ ...operation, price, seen }],
      },
    }
    const row = v.parse(EvidenceSchema, seed?.evidence)
    const named = {
      importer: 'discovery',
      key: 'x402.tides',
      row: { id: 'x402.tides', facts: {}, evidence: row },
    }
    expect(joinEvidence(probed, [named]).interface).toMatchObject({
      at: '2026-11-21T00:00:00Z',
      operations: [
        { ...operation, price, seen },
        { url: `${ORIGIN}/v1/tide/{harbour}`, price: { max_usd: 0.05 } },
      ],
    })
  })
})
