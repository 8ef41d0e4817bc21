import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { describe, expect, test } from 'vitest'
import { askRaw } from '../support/raw-answer.ts'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

const ask = (path: string, headers: Record<string, string> = {}, method = 'GET') =>
  askRaw(waypost.url, { path, headers, method })

const LISTING = '/api/v1/listings/x402.weather'

describe('compression', () => {
  test.each([
    ['br', 'br', brotliDecompressSync],
    ['gzip', 'gzip', gunzipSync],
    ['gzip, deflate, br;q=0.5', 'br', brotliDecompressSync],
    ['br;q=0, gzip', 'gzip', gunzipSync],
    ['*', 'br', brotliDecompressSync],
  ])('Accept-Encoding: %s → %s', async (accepted, coding, decode) => {
    const [packed, plain] = [
      await ask(LISTING, { 'accept-encoding': accepted }),
      await ask(LISTING),
    ]
    expect(packed.headers['content-encoding']).toBe(coding)
    expect(packed.headers.vary).toBe('accept-encoding')
    expect(decode(packed.bytes)).toEqual(plain.bytes)
    expect(packed.headers.etag).not.toBe(plain.headers.etag)
  })

  test('a file of under a kilobyte travels as it is', async () => {
    const badge = await ask('/badge/x402.weather.json', { 'accept-encoding': 'br' })
    expect(badge.headers['content-encoding']).toBeUndefined()
    expect(badge.headers['content-type']).toBe('application/json')
  })
})

describe('caching', () => {
  test('a strong ETag asked for again is a 304 without a body, for each coding', async () => {
    for (const accepted of ['br', 'gzip', 'identity']) {
      const first = await ask(LISTING, { 'accept-encoding': accepted })
      const etag = String(first.headers.etag)
      expect(etag).toMatch(/^"[\w-]+"$/)
      const again = await ask(LISTING, {
        'accept-encoding': accepted,
        'if-none-match': `"other", ${etag}`,
      })
      expect([again.status, again.bytes.length]).toEqual([304, 0])
    }
  })

  test('data lives a minute in a client and an hour at a CDN', async () => {
    const { headers } = await ask(LISTING)
    expect(headers['cache-control']).toBe(
      'public, max-age=60, s-maxage=3600, stale-while-revalidate=86400',
    )
  })

  test('HEAD has the headers of GET and no body', async () => {
    const [head, get] = [await ask(LISTING, {}, 'HEAD'), await ask(LISTING)]
    expect(head.bytes.length).toBe(0)
    expect(head.headers['content-length']).toBe(String(get.bytes.length))
    expect(head.headers.etag).toBe(get.headers.etag)
  })
})

describe('addresses', () => {
  test('an id with dots, even one that ends like a file, is a page and JSON under its bare path', async () => {
    const page = await ask('/listing/x402.dots.in.name.json')
    const json = await ask('/api/v1/listings/x402.dots.in.name.json')
    expect([page.status, page.headers['content-type']]).toEqual([200, 'text/html; charset=utf-8'])
    expect([json.status, json.headers['content-type']]).toEqual([200, 'application/json'])
  })

  test('a trailing slash goes to the canonical address; an unknown one goes nowhere', async () => {
    const slash = await ask('/listing/x402.weather/')
    expect([slash.status, slash.headers.location]).toEqual([301, '/listing/x402.weather'])
    expect((await ask('//evil.example/')).headers.location).toBeUndefined()
  })

  test('OPTIONS of public data allows any origin', async () => {
    const preflight = await ask(LISTING, { origin: 'https://app.example' }, 'OPTIONS')
    expect([preflight.status, preflight.headers['access-control-allow-origin']]).toEqual([204, '*'])
  })

  test('pages carry a policy without unsafe-inline', async () => {
    const policy = String((await ask('/listing/x402.weather')).headers['content-security-policy'])
    expect(policy).toContain("default-src 'none'")
    expect(policy).not.toContain('unsafe-inline')
  })
})
