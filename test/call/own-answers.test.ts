import { Readable } from 'node:stream'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { parseCallQuery, parseCallTarget } from '../../src/domain/call-target.ts'
import {
  aListing,
  exchangeRaw,
  type RelayWorld,
  startRawSeller,
  startRelay,
  startSeller,
} from './relay-world.ts'

let seller: Awaited<ReturnType<typeof startRawSeller>>
let world: RelayWorld

beforeAll(async () => {
  seller = await startRawSeller((socket) =>
    socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n'),
  )
  world = await startRelay({
    listings: [
      aListing(`${seller.origin}/v1`),
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
  })
})

afterAll(async () => {
  await world.close()
  await seller.close()
})

const call = (path: string, options: object = {}) => request(`${world.url}/${path}`, options)

async function problemOf(answer: Awaited<ReturnType<typeof request>>) {
  expect(answer.headers['content-type']).toBe('application/problem+json')
  expect(answer.headers['proxy-status']).toMatch(/^waypost; error=[a-z_]+/)
  return (await answer.body.json()) as Record<string, unknown>
}

describe('endpoints that are refused, with no connection made', () => {
  const rows = [
    'https://evil.example/',
    '//evil.example/',
    '/\\evil.example/',
    '///evil.example',
    '/\t/evil.example',
    'https:evil.example',
    'https:\\\\evil.example',
    'https://{host}@evil.example/',
    'https://user:pass@{host}/',
    'https://@{host}/',
    'https://evil.example#@{host}/',
    'https://{host}.evil.example/',
    'https://evil{host}/',
    'https://sub.{host}/',
    'https://{host}./',
    'https://{host}%2eevil.example/',
    'http://{host}/',
    'ftp://{host}/',
    'file:///etc/passwd',
    'gopher://127.0.0.1:6379/_PING',
    'data:text/html,x',
    'javascript:alert(1)',
    'wss://{host}/',
    'https://{host}:22/',
    'https://{host}:0/',
    'https://{host}:65536/',
    'https://{host}:443:80/',
    'https:///{host}/',
    'https://127.1/',
    'https://2130706433/',
    'https://0x7f000001/',
    'https://[::1]/',
    'https://[::ffff:7f00:1]/',
    'https://169.254.169.254/latest/meta-data/',
    'https://metadata.google.internal/',
    'relative/path',
    '?x=1',
    '*',
    '',
    ' /a',
    '/a b',
    '/a\r\nX-Injected: 1',
    '/a\0b',
    '/a#b',
    `/${'a'.repeat(3000)}`,
    '①②⑦.⓪.⓪.①',
  ]

  test.each(rows)('%j', (row) => {
    const endpoint = row.replaceAll('{host}', 'api.seller.example')
    const query = parseCallQuery(`endpoint=${encodeURIComponent(endpoint)}`)
    expect(parseCallTarget('https://api.seller.example/v1', query)).toHaveProperty('fault')
  })

  test.each(rows.filter((row) => row !== 'http://{host}/'))(
    '%j through the relay is a 400',
    async (row) => {
      const endpoint = row.replaceAll('{host}', `127.0.0.1:${seller.port}`)
      const before = seller.connections()
      const answer = await call(`x402.seller?endpoint=${encodeURIComponent(endpoint)}`)
      expect(answer.statusCode).toBe(400)
      const problem = await problemOf(answer)
      expect(problem).toMatchObject({ code: 'invalid-parameter' })
      expect(problem.errors).toMatchObject([{ in: 'query', name: 'endpoint' }])
      expect(seller.connections()).toBe(before)
    },
  )

  test('endpoint given twice', async () => {
    const answer = await call('x402.seller?endpoint=/a&endpoint=https://evil.example/')
    expect(answer.statusCode).toBe(400)
    await answer.body.dump()
  })

  test('relay_info judges the endpoint too', async () => {
    const answer = await call('x402.seller?relay_info=1&endpoint=https://evil.example/')
    expect(answer.statusCode).toBe(400)
    await answer.body.dump()
  })

  test.each([
    'HTTPS://API.Seller.Example/x',
    'https://api.seller.example:443/x',
    '/x',
    '/x?y=1&z',
    '/@x',
  ])('%s is on the seller’s origin', (endpoint) => {
    const query = parseCallQuery(`endpoint=${encodeURIComponent(endpoint)}`)
    const target = parseCallTarget('https://api.seller.example/v1', query)
    expect('url' in target && target.url.origin).toBe('https://api.seller.example')
  })
})

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
      seller_origin: seller.origin,
      default_endpoint: `${seller.origin}/v1`,
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
      const own = await startRelay({ listings: [listing] })
      listing.url = `http://${host}:${own.port}/x`
      const answer = await request(`${own.url}/x402.seller`)
      expect(answer.statusCode).toBe(508)
      await answer.body.dump()
      await own.close()
    },
  )
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
    const asked = 'payment-signature, authorization, access-control-expose-headers, x-custom'
    const answer = await call('x402.seller', {
      method: 'OPTIONS',
      headers: {
        Origin: 'https://agent.example',
        'Access-Control-Request-Method': 'POST',
        'Access-Control-Request-Headers': asked,
      },
    })
    expect(answer.statusCode).toBe(204)
    expect(answer.headers['access-control-allow-origin']).toBe('*')
    expect(answer.headers['access-control-allow-headers']).toBe(asked)
    expect(answer.headers['access-control-allow-methods']).toBe(ALLOW)
    await answer.body.dump()
  })
})

describe('limits', () => {
  test('a body announced as too large is refused before anything is sent', async () => {
    const before = seller.connections()
    const answer = await exchangeRaw(
      world.port,
      `POST /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nContent-Length: ${10 * 1024 * 1024 + 1}\r\n\r\nx`,
    )
    expect(answer.status).toBe(413)
    expect(seller.connections()).toBe(before)
  })

  test('a body of exactly 10 MiB passes, chunked or not', async () => {
    const received: number[] = []
    const counting = await startSeller((req, res) => {
      let length = 0
      req.on('data', (chunk: Buffer) => {
        length += chunk.length
      })
      req.on('end', () => {
        received.push(length)
        res.end()
      })
    })
    const own = await startRelay({ listings: [aListing(counting.origin)] })
    const body = Buffer.alloc(10 * 1024 * 1024, 1)
    const plain = await request(`${own.url}/x402.seller`, { method: 'POST', body })
    const chunked = await request(`${own.url}/x402.seller`, {
      method: 'POST',
      body: Readable.from([body]),
    })
    const more = await request(`${own.url}/x402.seller`, {
      method: 'POST',
      body: Readable.from([body, Buffer.from('x')]),
    })
    expect([plain.statusCode, chunked.statusCode, more.statusCode]).toEqual([200, 200, 413])
    expect(received).toEqual([body.length, body.length])
    await Promise.all([plain.body.dump(), chunked.body.dump(), more.body.dump()])
    await own.close()
    await counting.close()
  })

  test('the rate limit refuses before forwarding', async () => {
    const own = await startRelay({
      listings: [aListing(seller.origin)],
      env: { RATE_LIMITS: '{"call":"2/60"}', TRUST_PROXY: '1' },
    })
    const before = seller.connections()
    const statuses: number[] = []
    for (let n = 0; n < 4; n += 1) {
      const answer = await request(`${own.url}/x402.seller`)
      statuses.push(answer.statusCode)
      if (answer.statusCode === 429) {
        expect(answer.headers['ratelimit-policy']).toBe('"call";q=2;w=60')
        expect(answer.headers.ratelimit).toMatch(/^"call";r=0;t=\d+$/)
        expect(Number(answer.headers['retry-after'])).toBeGreaterThan(0)
        expect(await problemOf(answer)).toMatchObject({ code: 'rate-limited' })
      } else await answer.body.dump()
    }
    expect(statuses).toEqual([200, 200, 429, 429])
    expect(seller.connections()).toBe(before + 2)
    const other = await request(`${own.url}/x402.seller`, {
      headers: { 'X-Forwarded-For': '198.51.100.9' },
    })
    expect(other.statusCode).toBe(200)
    await own.close()
  })

  test.each([
    [{ perListing: 2, perClient: 9, inAll: 9 }, 'listing'],
    [{ perListing: 9, perClient: 2, inAll: 9 }, 'client'],
    [{ perListing: 9, perClient: 9, inAll: 2 }, 'process'],
  ])('calls in flight beyond %j: 503 at once', async (inFlight, name) => {
    const waiting: (() => void)[] = []
    const slow = await startSeller((_req, res) => void waiting.push(() => res.end()))
    const own = await startRelay({ listings: [aListing(slow.origin)], limits: { inFlight } })
    const first = [1, 2].map(() => request(`${own.url}/x402.seller`))
    await expect.poll(() => waiting.length).toBe(2)
    const third = await request(`${own.url}/x402.seller`)
    expect(third.statusCode).toBe(503)
    expect(third.headers['retry-after']).toBe('1')
    const problem = await problemOf(third)
    expect(problem.code).toBe('relay-busy')
    expect(problem.detail).toContain(name)
    for (const end of waiting) end()
    for (const answer of await Promise.all(first)) await answer.body.dump()
    const next = request(`${own.url}/x402.seller`)
    await expect.poll(() => waiting.length).toBe(3)
    waiting[2]?.()
    expect((await next).statusCode).toBe(200)
    await own.close()
    await slow.close()
  })
})
