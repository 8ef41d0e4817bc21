import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { Client as FormerClient } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport as FormerTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { createMcpHandler } from '@modelcontextprotocol/server'
import { beforeEach, describe, expect, test } from 'vitest'
import type { Directory } from '../../functions/protocols/directory.ts'
import { createMcpServer, createToolCalls } from '../../functions/protocols/mcp.ts'
import type { CallAnswer, CallRequest } from '../../functions/protocols/mcp-call-tool.ts'
import { createCallTool } from '../../functions/protocols/mcp-call-tool.ts'
import type { KitView } from '../../src/domain/kit/kit-view.ts'
import { toKit, toListing } from '../domain/listing-samples.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'

const unused = () => {
  throw new Error('call_listing asks the directory nothing else')
}
const DIRECTORY: Directory = {
  search: unused,
  findOperations: unused,
  plan: unused,
  listing: unused,
  kit: async () => kit,
  facets: unused,
  compare: unused,
  toUnknownText: () => 'No listing has this id; did you mean x402.two?',
}

const sold = (rail: string, network: string) => ({ rail, network, min_usd: 0.01, max_usd: 0.01 })
const OPERATIONS = [
  { method: 'GET', url: 'https://one.example/mpp', offers: [sold('mpp', 'eip155:4217')] },
  {
    method: 'POST',
    url: 'https://one.example/ask',
    offers: [sold('x402', 'eip155:8453')],
    body: { content_type: 'application/json', example: { q: 'cats' } },
  },
]

const TERMS = {
  x402Version: 2,
  error: 'Payment required',
  resource: { url: 'https://seller.example/weather' },
  accepts: [{ scheme: 'exact', network: 'eip155:8453', amount: '10000', payTo: '0x11' }],
}
const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64')
const MPP_LINE = `Payment id="a1", realm="seller.example", method="evm", intent="charge", request="${encode({ amount: '1' })}"`

let kit: KitView | null = null
let requested: CallRequest[] = []
let answer: Partial<CallAnswer> = {}
beforeEach(() => {
  requested = []
  kit = null
  answer = {}
})

const { switches } = SITE_TEXTS
const tool = createCallTool(DIRECTORY, async (request) => {
  requested.push(request)
  return { status: 200, headers: {}, body: Buffer.from(''), isCut: false, ...answer }
})(switches)
const info = { name: 'waypost', version: '1.0.0' }
const handler = createMcpHandler(() =>
  createMcpServer(DIRECTORY, info, { tools: [tool], switches }),
)
const plainly = createToolCalls([tool], () => info)
const inMemory = {
  fetch: (url: string | URL, init?: RequestInit) => handler.fetch(new Request(url, init)),
}
const ADDRESS = new URL('https://waypost.example/mcp')

type Called = { isError?: unknown; structuredContent?: unknown; content?: unknown; _meta?: unknown }
type Call = (args: object, meta?: Record<string, unknown>) => Promise<Called>
const CLIENTS: Record<string, (use: (call: Call) => Promise<void>) => Promise<void>> = {
  'the current client': async (use) => {
    const mode = { pin: '2026-07-28' }
    const client = new Client({ name: 't', version: '1.0.0' }, { versionNegotiation: { mode } })
    await client.connect(new StreamableHTTPClientTransport(ADDRESS, inMemory))
    await client.listTools()
    await use((args, _meta = {}) =>
      client.callTool({ name: 'call_listing', arguments: { id: 'x402.one', ...args }, _meta }),
    )
    await client.close()
  },
  'the former client': async (use) => {
    const client = new FormerClient({ name: 't', version: '1.0.0' })
    // Its own type of a transport asks for a session id that this server never gives.
    await client.connect(
      new FormerTransport(ADDRESS, inMemory) as Parameters<typeof client.connect>[0],
    )
    // It holds results against the schemas of the tools it has listed.
    await client.listTools()
    await use((args, _meta = {}) =>
      client.callTool({ name: 'call_listing', arguments: { id: 'x402.one', ...args }, _meta }),
    )
    await client.close()
  },
}

describe.each(Object.entries(CLIENTS))('%s', (_, withCall) => {
  test('reads the terms of an x402 seller, exactly', () =>
    withCall(async (call) => {
      answer = { status: 402, headers: { 'payment-required': encode(TERMS) } }
      const found = await call({})
      expect(found).toMatchObject({ isError: true, structuredContent: TERMS })
      expect(found.content).toEqual([{ type: 'text', text: JSON.stringify(TERMS) }])
    }))

  test('reads those of a seller of version 1, which stand in the body', () =>
    withCall(async (call) => {
      const terms = { ...TERMS, x402Version: 1 }
      answer = { status: 402, body: Buffer.from(JSON.stringify(terms)) }
      expect(await call({})).toMatchObject({ isError: true, structuredContent: terms })
    }))

  test('reads those of an MPP seller, and a 402 without any', () =>
    withCall(async (call) => {
      answer = { status: 402, headers: { 'www-authenticate': MPP_LINE } }
      expect(await call({})).toMatchObject({
        isError: true,
        structuredContent: { status: 402 },
        _meta: { 'org.paymentauth/payment-required': { challenges: [{ id: 'a1' }] } },
      })
      answer = { status: 402, body: Buffer.from('pay me') }
      expect(await call({})).toMatchObject({ structuredContent: { status: 402, body: 'pay me' } })
    }))

  test('reads answers of every kind', () =>
    withCall(async (call) => {
      const headers = { 'content-type': 'application/json' }
      for (const text of ['{"ok":true}', '[1]', 'null', '"x"']) {
        answer = { headers, body: Buffer.from(text) }
        expect(await call({})).toMatchObject({
          structuredContent: { status: 200, body: JSON.parse(text) },
        })
      }
      answer = { status: 500, body: Buffer.from('broken') }
      expect(await call({})).toMatchObject({ isError: true, structuredContent: { status: 500 } })
    }))

  test.each([
    ['x402.evil/../x402.good'],
    ['x402.one?relay_info'],
    ['x402.one#x'],
    ['/x402.one'],
    ['x402%2eone'],
    ['X402.ONE'],
    [''],
  ])('is told that %j is not an id, and nothing is sent', (id) =>
    withCall(async (call) => {
      const found = await call({ id })
      expect(found.isError).toBe(true)
      expect(JSON.stringify(found.content)).toMatch(/did you mean x402\.two/)
      expect(requested).toEqual([])
    }),
  )

  test('sends what the operation says where it says nothing itself', () =>
    withCall(async (call) => {
      const listing = toListing({ facts: { url: 'https://one.example', http: OPERATIONS } })
      kit = toKit(listing)
      await call({})
      await call({ endpoint: '/ask', body: { q: 'dogs' } })
      const json = expect.objectContaining({ 'Content-Type': 'application/json' })
      const sent = { method: 'POST', headers: json }
      expect(requested).toEqual([
        {
          ...sent,
          id: 'x402.one',
          endpoint: 'https://one.example/ask',
          body: Buffer.from('{"q":"cats"}'),
        },
        { ...sent, id: 'x402.one', endpoint: '/ask', body: Buffer.from('{"q":"dogs"}') },
      ])
    }))

  test('takes the id by either name, and the query beside the endpoint', () =>
    withCall(async (call) => {
      await call({ id: undefined, listing_id: 'x402.one', endpoint: '/a?k=1&city=Bergen' })
      await call({ endpoint: '/a?k=1&city=Bergen', query: { city: 'Oslo', days: 2 } })
      await call({ endpoint: '/a?x=%2f&y', query: '?z=a+b' })
      await call({ endpoint: '/a', query: {} })
      expect(requested.map(({ id, endpoint }) => [id, endpoint])).toEqual([
        ['x402.one', '/a?k=1&city=Bergen'],
        ['x402.one', '/a?k=1&city=Oslo&days=2'],
        ['x402.one', '/a?x=%2f&y&z=a+b'],
        ['x402.one', '/a'],
      ])
      const both = await call({ listing_id: 'x402.two' })
      expect([both.isError, JSON.stringify(both.content)]).toEqual([
        true,
        expect.stringContaining('listing_id'),
      ])
      const nowhere = await call({ query: { city: 'Oslo' } })
      expect(JSON.stringify(nowhere.content)).toMatch(/give `endpoint`/)
    }))

  test('gets the receipt of the directory with its secret', () =>
    withCall(async (call) => {
      const url = 'https://waypost.example/api/v1/receipts/r1'
      const headers = { 'call-receipt': url, 'call-receipt-secret': 's1' }
      const receipt = { 'directory/call-receipt': { url, secret: 's1' } }
      answer = { headers: { ...headers, 'payment-response': encode({ success: true }) } }
      expect((await call({}))._meta).toMatchObject({
        ...receipt,
        'x402/payment-response': { success: true },
      })
      answer = { status: 402, headers: { ...headers, 'payment-required': encode(TERMS) } }
      expect(await call({})).toMatchObject({ structuredContent: TERMS, _meta: receipt })
    }))

  test('says what it expects, and is told what differs', () =>
    withCall(async (call) => {
      const payee = ['eip155:8453:0x1111111111111111111111111111111111111111']
      const changed = [{ what: 'payee', expected: payee[0], found: 'another' }]
      const problem = { code: 'changed', detail: 'The payee is not as expected.', changed }
      answer = {
        status: 409,
        headers: { 'proxy-status': 'directory-relay; error=http_request_denied' },
        body: Buffer.from(JSON.stringify(problem)),
      }
      expect(await call({ expect: { payee, max_usd: 0.0000001 } })).toMatchObject({
        isError: true,
        structuredContent: { status: 409, error: { code: 'changed', changed } },
      })
      expect(requested[0]?.headers['call-expect']).toBe(`payee=${payee[0]}, max_usd=0.0000001`)
    }))

  test('is told what the relay refused in a sentence, never in a problem document', () =>
    withCall(async (call) => {
      const refuse = (status: number, problem: object) => ({
        status,
        headers: {
          'content-type': 'application/problem+json',
          'proxy-status': 'directory-relay; error=http_request_denied',
        },
        body: Buffer.from(
          JSON.stringify({ type: 'https://waypost.example/problems/x', ...problem }),
        ),
      })
      answer = refuse(404, { code: 'listing-not-found', detail: 'No listing has this id.' })
      const unknown = await call({})
      expect(JSON.stringify(unknown)).toMatch(/No listing has this id\./)
      const link = { link_out: 'https://seller.example/' }
      answer = refuse(422, { code: 'not-relayable', detail: 'Call the seller.', ...link })
      const refused = await call({})
      expect(refused.isError).toBe(true)
      expect(refused.content).toEqual([
        { type: 'text', text: 'Call the seller. link_out: https://seller.example/' },
      ])
      expect(JSON.stringify([unknown, refused])).not.toContain('problems/')
    }))

  test.each([
    ['x402/payment', (pad: string) => ({ x402Version: 2, payload: { pad } }), 'PAYMENT-SIGNATURE'],
    [
      'org.paymentauth/credential',
      (pad: string) => ({
        challenge: { id: 'a', realm: 'r', method: 'evm', intent: 'charge', request: {} },
        payload: { pad },
      }),
      'Authorization',
    ],
  ])(
    'pays with %s of any length up to the bound, and is told the bound past it',
    (key, toPayment, field) =>
      withCall(async (call) => {
        const large = toPayment('é'.repeat(45_000))
        await call({}, { [key]: large })
        const header = requested.at(-1)?.headers[field] ?? ''
        const sent = Buffer.from(header.replace('Payment ', ''), 'base64').toString('utf8')
        expect(JSON.parse(sent).payload).toEqual(large.payload)
        for (const length of [130_000, 900_000]) {
          const refused = await call({}, { [key]: toPayment('x'.repeat(length)) })
          expect(refused.isError).toBe(true)
          expect(JSON.stringify(refused.content)).toMatch(/at most 131072 bytes/)
        }
        expect(requested).toHaveLength(1)
      }),
  )
})

describe('without a server of the package', () => {
  const json = { 'content-type': 'application/json' }
  const paid = {
    ...json,
    'payment-response': encode({ success: true, transaction: '0x1' }),
    'payment-receipt': Buffer.from('{"status":"success"}').toString('base64url'),
  }
  const claim = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 't', version: '1.0.0' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} }, roots: {} },
  }
  const payment = { 'x402/payment': { x402Version: 2, payload: {} } }
  describe.each([
    ['a former revision', '2025-11-25', {}],
    ['the newest', '2026-07-28', claim],
  ])('in %s', (_, version, envelope) => {
    test.each([
      ['terms of x402', { status: 402, headers: { 'payment-required': encode(TERMS) } }, {}],
      ['terms of MPP', { status: 402, headers: { 'www-authenticate': MPP_LINE } }, {}],
      ['an answer with receipts', { headers: paid, body: Buffer.from('{"ok":1}') }, payment],
      ['a payment that is none', {}, { 'x402/payment': 'x' }],
      ['an answer of 500', { status: 500, body: Buffer.from('broken') }, {}],
    ])('%s is answered as with one, byte for byte', async (_, given, meta) => {
      answer = given
      const params = {
        name: 'call_listing',
        arguments: { id: 'x402.one' },
        _meta: { ...envelope, ...meta },
      }
      const message = { jsonrpc: '2.0', id: 3, method: 'tools/call', params }
      const request = new Request(ADDRESS, {
        method: 'POST',
        headers: {
          ...json,
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': version,
          'mcp-method': 'tools/call',
          'mcp-name': 'call_listing',
        },
        body: JSON.stringify(message),
      })
      const mine = JSON.stringify(await plainly(request, message))
      const theirs = await (await handler.fetch(request)).text()
      expect(mine).toBe(/^data: (.*)$/m.exec(theirs)?.[1] ?? theirs)
      expect(mine).toContain('"result":')
    })
  })
})
