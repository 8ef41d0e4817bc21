import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { forAllTests } from '../support/for-tests.ts'
import { problemOf } from './problem-of.ts'
import { aListing, exchangeRaw, startRawSeller, startRelay } from './relay-world.ts'

const seller = forAllTests(() =>
  startRawSeller((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
)
const world = forAllTests(() =>
  startRelay({
    listings: [
      aListing(`${seller.url}/v1`),
      aListing('https://mcp.example.com/', {
        id: 'mcp.linked',
        kind: 'mcp_server',
        buy: 'link_out',
        not_relayable_reason: 'The relay calls http_api listings; this one is mcp_server.',
        pricing: { model: 'unknown' },
      }),
      aListing('https://waypost.example/api/v1/call/x402.self', { id: 'x402.self' }),
      aListing('https://WAYPOST.example./x', { id: 'x402.selfdot' }),
    ],
  }),
)

const call = (path: string, options: object = {}) => request(`${world.url}/${path}`, options)

describe('listings', () => {
  test.each([
    'x402.nope',
    '__proto__',
    'constructor',
    '..%2f..%2fadmin',
    '%zz',
    '',
    'x402.seller%00',
  ])('%j is a 404', async (id) => {
    const answer = await call(id)
    expect(answer.statusCode).toBe(404)
    expect(await problemOf(answer)).toMatchObject({ code: 'listing-not-found' })
  })

  test('one that is not relayable is a 422 with the way out', async () => {
    const answer = await call('mcp.linked', { method: 'POST', body: '{}' })
    expect(answer.statusCode).toBe(422)
    expect(await problemOf(answer)).toMatchObject({
      code: 'not-relayable',
      link_out: 'https://mcp.example.com/',
      go: 'https://waypost.example/go/mcp.linked?src=api',
      reason: 'The relay calls http_api listings; this one is mcp_server.',
    })
  })

  test('relay_info tells all, and nobody is called', async () => {
    const before = seller.connections()
    const answer = await call('x402.seller?relay_info')
    expect(answer.statusCode).toBe(200)
    const info = (await answer.body.json()) as Record<string, unknown>
    expect(info).toMatchObject({
      listing_id: 'x402.seller',
      relayable: true,
      reason: null,
      buy: 'relay_x402',
      seller_origin: seller.url,
      default_endpoint: `${seller.url}/v1`,
      methods: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
      rails: ['x402'],
      networks: ['eip155:84532'],
      custody: 'none',
      fee_usd: 0,
      limits: { request_body_bytes: 10_485_760, paid_response_headers_seconds: 330 },
    })
    expect(info.request_headers).toContain('PAYMENT-SIGNATURE')
    expect(info.response_headers).toContain('PAYMENT-REQUIRED')
    expect(seller.connections()).toBe(before)
  })

  test('relay_info of one that is not relayable says why', async () => {
    const info = await (await call('mcp.linked?relay_info=')).body.json()
    expect(info).toMatchObject({
      relayable: false,
      buy: 'link_out',
      reason: 'The relay calls http_api listings; this one is mcp_server.',
      rails: [],
      networks: [],
      pricing: { model: 'unknown' },
    })
  })

  test.each(['x402.self', 'x402.selfdot'])('%s points at us: 508', async (id) => {
    const answer = await call(id)
    expect(answer.statusCode).toBe(508)
    expect(answer.headers['proxy-status']).toContain('proxy_loop_detected')
    expect(await problemOf(answer)).toMatchObject({ code: 'relay-loop' })
  })

  test.each(['127.0.0.1', 'localhost', 'any.name.example'])(
    'a listing at our own address, as %s, is a loop: 508',
    async (host) => {
      const listing = aListing('http://placeholder.example/')
      await using own = await startRelay({ listings: [listing] })
      listing.url = `http://${host}:${own.port}/x`
      const answer = await request(`${own.url}/x402.seller`)
      expect(answer.statusCode).toBe(508)
      await answer.body.dump()
    },
  )
})

test("answers of sellers and of ours carry our word on https, never the seller's", async () => {
  for (const path of ['x402.seller', 'x402.nope']) {
    const answer = await call(path)
    expect(answer.headers['strict-transport-security']).toBe('max-age=63072000')
    await answer.body.dump()
  }
})

describe('methods', () => {
  const ALLOW = 'GET, POST, PUT, PATCH, DELETE, OPTIONS'

  test.each(['HEAD', 'TRACE', 'PROPFIND', 'QUERY'])('%s is a 405', async (method) => {
    const before = seller.connections()
    const answer = await exchangeRaw(
      world.port,
      `${method} /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n`,
    )
    expect(answer.status).toBe(405)
    expect(answer.lines.map((line) => line.toLowerCase())).toContain(
      `allow: ${ALLOW.toLowerCase()}`,
    )
    expect(seller.connections()).toBe(before)
  })

  test('a preflight gets the headers it asks for', async () => {
    const requested = 'payment-signature, authorization, access-control-expose-headers, x-custom'
    const answer = await call('x402.seller', {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://agent.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': requested,
      },
    })
    expect(answer.statusCode).toBe(204)
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.headers['access-control-allow-headers']).toBe(requested)
    expect(answer.headers['access-control-allow-methods']).toBe(ALLOW)
    await answer.body.dump()
  })
})
