import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { buffer as readBuffer } from 'node:stream/consumers'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { forAllTests } from '../support/for-tests.ts'
import { startSite } from '../support/site.ts'
import { aListing, exchangeRaw, startRelay } from './relay-world.ts'

let seen: { req: IncomingMessage; body: Buffer }

const seller = forAllTests(() =>
  startSite(async (req, res) => {
    seen = { req, body: await readBuffer(req) }
    res.end('ok')
  }),
)
const world = forAllTests(() => startRelay({ listings: [aListing(`${seller.url}/v1?own=1`)] }))

const at = (query = '') => `${world.url}/x402.seller${query}`

describe('the target', () => {
  test.each([
    ['', '/v1?own=1'],
    ['?q=%20a+b%2Fc&flag&empty=&x=%zz', '/v1?own=1&q=%20a+b%2Fc&flag&empty=&x=%zz'],
    ['?b=2&endpoint=/v2&a=1&b=1', '/v2?b=2&a=1&b=1'],
    ['?endpoint=%2Fv2%3Fcity%3DParis%26u%3D%2520', '/v2?city=Paris&u=%20'],
    ['?endpoint=/v2?city=Paris&units=m', '/v2?city=Paris&units=m'],
    ['?%65ndpoint=/v2', '/v2'],
    ['?a=1?b=2', '/v1?own=1&a=1?b=2'],
    ['?endpointx=/v2&xendpoint=1', '/v1?own=1&endpointx=/v2&xendpoint=1'],
  ])('%s arrives as %s', async (query, path) => {
    const raw = `GET /api/v1/call/x402.seller${query} HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n`
    expect((await exchangeRaw(world.port, raw)).status).toBe(200)
    expect(seen.req.url).toBe(path)
  })

  test('a full URL on the seller’s origin is taken', async () => {
    await request(at(`?endpoint=${encodeURIComponent(`${seller.url}/deep/path?x=1`)}`))
    expect(seen.req.url).toBe('/deep/path?x=1')
    expect(seen.req.headers.host).toBe(`127.0.0.1:${seller.port}`)
  })
})

describe('the request', () => {
  test.each(['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const)(
    '%s keeps its method and body',
    async (method) => {
      const body = randomBytes(70_000)
      await request(at(), { method, body })
      expect(seen.req.method).toBe(method)
      expect(seen.body.equals(body)).toBe(true)
      expect(seen.req.headers['content-length']).toBe('70000')
    },
  )

  test('a chunked body stays whole', async () => {
    const raw =
      'POST /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nTransfer-Encoding: chunked\r\n' +
      'Connection: close\r\n\r\n5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n'
    expect((await exchangeRaw(world.port, raw)).status).toBe(200)
    expect(seen.body.toString()).toBe('hello world')
    expect(seen.req.headers['content-length']).toBeUndefined()
  })

  test('end-to-end headers pass as they are; ours, the connection’s and identities don’t', async () => {
    const payment = 'A'.repeat(8192)
    const toAddress = (name: string) => `${name}: 10.0.0.1`
    const raw = [
      'POST /api/v1/call/x402.seller HTTP/1.1',
      'Host: waypost.example',
      'Content-Length: 2',
      `X-Payment: ${payment}`,
      'Authorization: Bearer seller-key',
      'Accept-Payment: evm/charge',
      'SIGN-IN-WITH-X: abc',
      'Access-Control-Expose-Headers: PAYMENT-RESPONSE',
      'x-LATIN: caf\xe9 \xff',
      'X-Twice: 1',
      'X-Twice: 2',
      'Accept-Encoding: br',
      'User-Agent: agent/1',
      'Cookie: session=ours',
      'X-Forwarded-For: 10.0.0.1',
      'X-Forwarded-Proto: https',
      'X-Real-IP: 10.0.0.1',
      'Forwarded: for=10.0.0.1',
      'Via: 1.1 cdn',
      'CF-Connecting-IP: 10.0.0.1',
      'True-Client-IP: 10.0.0.1',
      ...['X-Vercel-Forwarded-For', 'X-Nf-Client-Connection-Ip', 'Do-Connecting-Ip'].map(toAddress),
      ...['WL-Proxy-Client-IP', 'X-ProxyUser-Ip'].map(toAddress),
      'Proxy-Authorization: Basic x',
      'Keep-Alive: timeout=5',
      'TE: trailers',
      'X-Hop: 1',
      'Connection: close, x-hop',
      'Origin: https://waypost.example',
      'Referer: https://waypost.example/listing/x402.seller',
      '',
      'hi',
    ].join('\r\n')
    expect((await exchangeRaw(world.port, raw)).status).toBe(200)
    const names = seen.req.rawHeaders.filter((_, index) => index % 2 === 0)
    expect(names).toEqual([
      'host',
      'connection',
      'X-Payment',
      'Authorization',
      'Accept-Payment',
      'SIGN-IN-WITH-X',
      'Access-Control-Expose-Headers',
      'x-LATIN',
      'X-Twice',
      'X-Twice',
      'Accept-Encoding',
      'User-Agent',
      'content-length',
    ])
    expect(seen.req.headers['x-payment']).toBe(payment)
    expect(seen.req.headers['x-latin']).toBe('caf\xe9 \xff')
    expect(JSON.stringify(seen.req.rawHeaders)).not.toContain('waypost')
  })

  test('no trailer of a request becomes a header, or reaches the seller', async () => {
    const raw = [
      'POST /api/v1/call/x402.seller HTTP/1.1',
      ...[
        'Host: waypost.example',
        'Transfer-Encoding: chunked',
        'Connection: close',
        '',
        '2',
        'hi',
      ],
      ...['0', 'PAYMENT-SIGNATURE: abc', 'X-Payment: abc', 'Call-Witness: off', '', ''],
    ].join('\r\n')
    expect((await exchangeRaw(world.port, raw)).status).toBe(200)
    const { rawHeaders, rawTrailers } = seen.req
    expect(JSON.stringify([rawHeaders, rawTrailers])).not.toMatch(/payment|witness|abc/i)
  })

  test('another origin’s Origin and Referer pass', async () => {
    await request(at(), {
      headers: { Origin: 'https://agent.example', Referer: 'https://agent.example/' },
    })
    expect(seen.req.headers.origin).toBe('https://agent.example')
    expect(seen.req.headers.referer).toBe('https://agent.example/')
  })

  test('120 KiB of headers pass to the seller', async () => {
    const value = 'h'.repeat(40 * 1024)
    await request(at(), { headers: { 'x-a': value, 'x-b': value, 'x-c': value } })
    expect(seen.req.headers['x-c']).toBe(value)
  })

  test.each(['X-PAYMENT', 'PAYMENT-SIGNATURE'])('two %s lines are refused', async (name) => {
    const raw = `GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\n${name}: a\r\n${name}: b\r\nConnection: close\r\n\r\n`
    const before = seen
    const answer = await exchangeRaw(world.port, raw)
    expect(answer.status).toBe(400)
    expect(answer.body).toContain('malformed-request')
    expect(seen).toBe(before)
  })
})

test('thousands of header lines pass, none dropped', async () => {
  const lines = Array.from({ length: 5000 }, (_, n) => `x-${n}: ${n}\r\n`).join('')
  const raw = `GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\n${lines}Connection: close\r\n\r\n`
  expect((await exchangeRaw(world.port, raw)).status).toBe(200)
  expect(seen.req.rawHeaders.filter((name) => name.startsWith('x-'))).toHaveLength(5000)
})

test('a target in absolute form is the same call', async () => {
  const raw =
    'GET http://w/api/v1/call/x402.seller?endpoint=/v3&q=%20 HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n'
  expect((await exchangeRaw(world.port, raw)).status).toBe(200)
  expect(seen.req.url).toBe('/v3?q=%20')
})
