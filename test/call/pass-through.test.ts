import { randomBytes } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import { gzipSync } from 'node:zlib'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import {
  aListing,
  exchangeRaw,
  type RelayWorld,
  type Seller,
  startRawSeller,
  startRelay,
  startSeller,
} from './relay-world.ts'

let seller: Seller
let world: RelayWorld
let seen: { req: IncomingMessage; body: Buffer }

beforeAll(async () => {
  seller = await startSeller((req, res) => {
    const chunks: Buffer[] = []
    req.on('data', (chunk) => chunks.push(chunk))
    req.on('end', () => {
      seen = { req, body: Buffer.concat(chunks) }
      res.end('ok')
    })
  })
  world = await startRelay({ listings: [aListing(`${seller.origin}/v1?own=1`)] })
})

afterAll(async () => {
  await world.close()
  await seller.close()
})

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
    await request(at(`?endpoint=${encodeURIComponent(`${seller.origin}/deep/path?x=1`)}`))
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

  test('a payment named in Connection is refused, not dropped', async () => {
    const raw = `GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nX-PAYMENT: a\r\nConnection: close, x-payment\r\n\r\n`
    expect((await exchangeRaw(world.port, raw)).status).toBe(400)
  })
})

describe('the answer', () => {
  const PASSED =
    'HTTP/1.1 402 Pay Up\r\n' +
    'Content-Type: application/json; charset=utf-8\r\n' +
    'PAYMENT-REQUIRED: eyJ4NDAyVmVyc2lvbiI6Mn0=\r\n' +
    'WWW-Authenticate: Payment id="a"\r\n' +
    'WWW-Authenticate: Payment id="b"\r\n' +
    'x-Latin: caf\xe9\r\n' +
    'Date: Fri, 20 Nov 2026 08:49:45 GMT\r\n'
  const DROPPED =
    'Set-Cookie: __Host-session=evil\r\n' +
    'Clear-Site-Data: "*"\r\n' +
    'Strict-Transport-Security: max-age=1\r\n' +
    'Alt-Svc: h3=":443"\r\n' +
    'Refresh: 0; url=https://evil.example\r\n' +
    'Service-Worker-Allowed: /\r\n' +
    'Access-Control-Allow-Origin: https://one.example\r\n' +
    'Access-Control-Allow-Credentials: true\r\n' +
    'EXTENSION-RESPONSES: x\r\n' +
    'X-Hop: 1\r\n' +
    'Keep-Alive: timeout=99\r\n' +
    'Proxy-Status: waypost; error=forged\r\n' +
    'Connection: close, x-hop\r\n'

  async function answerOf(bytes: string): Promise<Awaited<ReturnType<typeof exchangeRaw>>> {
    const raw = await startRawSeller((socket) => socket.end(Buffer.from(bytes, 'latin1')))
    const own = await startRelay({ listings: [aListing(`${raw.origin}/`)] })
    try {
      return await exchangeRaw(
        own.port,
        'GET /api/v1/call/x402.seller HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n',
      )
    } finally {
      await own.close()
      await raw.close()
    }
  }

  test('a 402 passes byte for byte, less what would act on our origin', async () => {
    const answer = await answerOf(`${PASSED}${DROPPED}Content-Length: 2\r\n\r\n{}`)
    expect(answer.text).toBe(
      `${PASSED}Content-Length: 2\r\n` +
        'Content-Security-Policy: sandbox\r\n' +
        'X-Content-Type-Options: nosniff\r\n' +
        'Cache-Control: no-store\r\n' +
        'Access-Control-Allow-Origin: *\r\n' +
        'Access-Control-Expose-Headers: PAYMENT-REQUIRED, PAYMENT-RESPONSE, X-PAYMENT-RESPONSE, WWW-Authenticate, Payment-Receipt, RateLimit, RateLimit-Policy, Retry-After, Proxy-Status, Location\r\n' +
        'Connection: close\r\n\r\n{}',
    )
  })

  test('the seller’s Cache-Control and policies stand', async () => {
    const answer = await answerOf(
      "HTTP/1.1 200 OK\r\nCache-Control: private\r\nContent-Security-Policy: default-src 'none'\r\nContent-Length: 0\r\n\r\n",
    )
    expect(answer.lines).toContain('Cache-Control: private')
    expect(answer.lines).toContain("Content-Security-Policy: default-src 'none'")
    expect(answer.lines).toContain('Content-Security-Policy: sandbox')
    expect(answer.text).not.toContain('no-store')
  })

  test.each([
    200, 201, 204, 206, 304, 400, 401, 402, 403, 404, 409, 410, 412, 429, 500, 502, 503, 599,
  ])('%i passes', async (status) => {
    const answer = await answerOf(
      `HTTP/1.1 ${status} X\r\nPAYMENT-RESPONSE: abc\r\nContent-Length: 0\r\n\r\n`,
    )
    expect(answer.status).toBe(status)
    expect(answer.lines).toContain('PAYMENT-RESPONSE: abc')
    expect(answer.text).not.toMatch(/^proxy-status/im)
  })

  test('120 KiB of headers pass to the caller', async () => {
    const line = (name: string) => `${name}: ${'v'.repeat(40 * 1024)}\r\n`
    const answer = await answerOf(
      `HTTP/1.1 402 X\r\n${line('x-a')}${line('x-b')}${line('x-c')}Content-Length: 0\r\n\r\n`,
    )
    expect(answer.status).toBe(402)
    expect(answer.lines.filter((one) => one.length > 40_000)).toHaveLength(3)
  })

  test('more than that is a 502 of ours', async () => {
    const answer = await answerOf(`HTTP/1.1 200 X\r\nx-a: ${'v'.repeat(140 * 1024)}\r\n\r\n`)
    expect(answer.status).toBe(502)
    expect(answer.text).toContain('error=http_response_header_section_size')
  })

  test('a compressed body passes compressed', async () => {
    const zipped = gzipSync('x'.repeat(100_000))
    const answer = await answerOf(
      `HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: ${zipped.length}\r\n\r\n${zipped.toString('latin1')}`,
    )
    expect(answer.body).toBe(zipped.toString('latin1'))
    expect(answer.lines).toContain('Content-Encoding: gzip')
  })

  test('trailers are dropped, the body is whole', async () => {
    const answer = await answerOf(
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: Set-Cookie\r\n\r\n2\r\nhi\r\n0\r\nSet-Cookie: a=b\r\n\r\n',
    )
    expect(answer.body).toBe('2\r\nhi\r\n0\r\n\r\n')
    expect(answer.text).not.toMatch(/set-cookie|trailer/i)
  })

  test('an answer that ends with its connection passes whole', async () => {
    const answer = await answerOf('HTTP/1.0 200 OK\r\nContent-Type: text/plain\r\n\r\nhello')
    expect(answer.status).toBe(200)
    expect(answer.body).toBe('5\r\nhello\r\n0\r\n\r\n')
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
