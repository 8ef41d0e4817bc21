import { describe, expect, test } from 'vitest'
import { countVerdict } from '../../functions/net/guard.ts'
import { createPathTable } from '../../functions/service/app.ts'
import { serveFixture, startService } from '../support/running-service.ts'

const TOKEN = 'a-token-of-the-operator'

test('a request is counted under its row of the tables, whatever stands in it', () => {
  const { labelOf } = createPathTable([], { reads: {}, stub: () => new Response() })
  expect(
    [
      '/api/v1/search',
      '/api/v1/listings/x402.foo',
      '/api/v1/listings/x402.foo/kit.json',
      '/api/v1/call/x402.foo',
      '/api/v1/call/x402.foo/v1/search',
      '/mcp',
      '/listing/x402.foo.md',
      '/listing/x402.foo',
      '/../../etc/passwd',
    ].map(labelOf),
  ).toEqual(['search', 'listing', 'kit', 'call', 'call', 'mcp', 'listing_markdown', 'page', 'page'])
})

describe('with a token', () => {
  const waypost = serveFixture({ METRICS_TOKEN: TOKEN, TRUST_PROXY: '1' })

  const scrape = (authorization = `Bearer ${TOKEN}`) =>
    fetch(`${waypost.url}/metrics`, { headers: { authorization } })
  const figureOf = (text: string, series: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${series} `))
        ?.slice(series.length),
    )

  test('who has none, or another, gets 401 and nothing else', async () => {
    for (const wrong of ['', 'Bearer ', `Bearer ${TOKEN}x`, `Basic ${TOKEN}`]) {
      const refused = await scrape(wrong)
      expect([refused.status, refused.headers.get('www-authenticate')]).toEqual([
        401,
        'Bearer realm="metrics"',
      ])
      expect(await refused.text()).not.toContain('waypost_')
    }
  })

  test('requests, calls, clicks, queues, the release and the event loop are counted', async () => {
    const ask = async (path: string) => void (await (await fetch(waypost.url + path)).text())
    await ask('/api/v1/search?q=weather')
    await ask('/api/v1/search?limit=nonsense')
    await ask('/api/v1/listings/no.such')
    await ask('/api/v1/call/no.such')
    const answer = await scrape()
    expect(answer.headers.get('content-type')).toMatch(/^text\/plain; version=0\.0\.4/)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    const text = await answer.text()
    const requests = (route: string, status: number) =>
      figureOf(
        text,
        `waypost_http_requests_total{route="${route}",method="GET",status="${status}"}`,
      )
    expect([requests('search', 200), requests('search', 400)]).toEqual([1, 1])
    expect([requests('listing', 404), requests('call', 404)]).toEqual([1, 1])
    expect(figureOf(text, 'waypost_http_request_duration_seconds_count{route="search"}')).toBe(2)
    expect(figureOf(text, 'waypost_relay_calls_total{outcome="listing-not-found"}')).toBe(1)
    expect(figureOf(text, 'waypost_clicks{state="lost"}')).toBe(0)
    const verdict = '{purpose="stranger",verdict="no_address"}'
    countVerdict('stranger', 'no_address')
    const after = await (await scrape()).text()
    expect(figureOf(after, `waypost_outbound_total${verdict}`)).toBeGreaterThan(0)
    expect(figureOf(text, 'waypost_mail_queue_jobs')).toBe(0)
    expect(figureOf(text, 'waypost_release_age_seconds')).toBeGreaterThan(0)
    expect(figureOf(text, 'nodejs_eventloop_lag_p99_seconds')).toBeGreaterThan(0)
    expect(text).not.toContain('no.such')
  })

  test('a store that is down leaves its figures out, and nothing else', async () => {
    const { store } = waypost.service.parts.ledger
    const { db } = store
    Object.defineProperty(store, 'db', { get: () => db.withSchema('nowhere'), configurable: true })
    const text = await (await scrape()).text()
    Object.defineProperty(store, 'db', { value: db })
    expect(text).not.toMatch(/^waypost_mail_queue_jobs /m)
    expect(text).toMatch(/^waypost_clicks\{state="written"\} \d/m)
  })

  test('the log names a request as the proxy in front did, and only in its own words', async () => {
    const call = (id: string) =>
      fetch(`${waypost.url}/api/v1/call/x402.weather`, { headers: { 'x-request-id': id } })
    await call('edge-7f3a')
    await call('a b'.repeat(40))
    const requests = waypost.log
      .map((line): { event: string; request: string } => JSON.parse(line))
      .filter(({ event }) => event === 'relayed')
      .map(({ request }) => request)
    expect(requests).toEqual(['edge-7f3a', expect.stringMatching(/^[0-9a-f-]{36}$/)])
  })
})

test('without a token nothing stands there, and nobody but a proxy names a request', async () => {
  const waypost = await startService()
  try {
    const answer = await fetch(`${waypost.url}/metrics`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    expect(answer.status).toBe(404)
    await fetch(`${waypost.url}/api/v1/call/x402.weather`, { headers: { 'x-request-id': 'mine' } })
    const line = waypost.log.find((text) => text.includes('"relayed"')) ?? ''
    expect(line).toContain('"request":"')
    expect(line).not.toContain('mine')
  } finally {
    await waypost.close()
  }
})
