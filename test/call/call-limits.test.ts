import { Readable } from 'node:stream'
import { request } from 'undici'
import { describe, expect, test } from 'vitest'
import { forAllTests } from '../support/for-tests.ts'
import { startSite } from '../support/site.ts'
import { problemOf } from './problem-of.ts'
import { aListing, allInFlight, exchangeRaw, startRawSeller, startRelay } from './relay-world.ts'

const seller = forAllTests(() =>
  startRawSeller((socket) => socket.end('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n')),
)
const world = forAllTests(() => startRelay({ listings: [aListing(`${seller.url}/v1`)] }))

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
    await using counting = await startSite((req, res) => {
      let length = 0
      req.on('data', (chunk: Buffer) => {
        length += chunk.length
      })
      req.on('end', () => {
        received.push(length)
        res.end()
      })
    })
    await using own = await startRelay({ listings: [aListing(counting.url)] })
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
  })

  test('the rate limit refuses before forwarding', async () => {
    await using own = await startRelay({
      listings: [aListing(seller.url)],
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
  })

  test.each([
    [{ perListing: 2 }, 'listing'],
    [{ perListingAndClient: 2 }, 'listing and client'],
    [{ perListingAndNetwork: 2 }, 'listing and network'],
    [{ perClient: 2 }, 'client'],
    [{ perNetwork: 2 }, 'network'],
    [{ inAll: 2 }, 'process'],
  ])('calls in flight beyond %j: 503 at once', async (shares, name) => {
    const inFlight = { ...allInFlight(9), ...shares }
    const waiting: (() => void)[] = []
    await using slow = await startSite((_req, res) => void waiting.push(() => res.end()))
    await using own = await startRelay({ listings: [aListing(slow.url)], limits: { inFlight } })
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
  })
})
