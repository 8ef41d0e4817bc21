import { describe, expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const GONE = 'x402.former-tides'

const service = serveFixture()

describe('a listing that is gone', () => {
  test.each([
    [`/api/v1/listings/${GONE}`],
    [`/api/v1/listings/${GONE}/kit.json`],
    [`/api/v1/call/${GONE}`],
    [`/go/${GONE}`],
    [`/badge/${GONE}.svg`],
    [`/listing/${GONE}`],
  ])('answers 410 at %s and says why', async (path) => {
    const answer = await fetch(service.url + path, { redirect: 'manual' })
    expect(answer.status).toBe(410)
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(await answer.json()).toMatchObject({
      code: 'listing-gone',
      id: GONE,
      reason: 'duplicate',
      replaced_by: 'x402.harbour-tides',
      at: '2026-10-01T00:00:00Z',
    })
  })

  test.each([[`/listing/${GONE}`], [`/gone/${GONE}`]])(
    'is a page for a browser at %s, with 410 too',
    async (path) => {
      const answer = await fetch(service.url + path, { headers: { accept: 'text/html' } })
      expect(answer.status).toBe(410)
      const html = await answer.text()
      expect(html).toContain('It is the same service as another listing.')
      expect(html).toContain('/listing/x402.harbour-tides')
      expect(html).toContain('noindex')
    },
  )

  test('an id that never was is still 404', async () => {
    const answer = await fetch(`${service.url}/api/v1/listings/x402.never-was`)
    expect(answer.status).toBe(404)
    expect(await answer.json()).toMatchObject({ code: 'listing-not-found' })
  })

  test.each([
    ['/api/v1/listings/wether'],
    ['/api/v1/listings/mcp.weather'],
    ['/api/v1/listings/mcp.weather/kit.json?view=compact'],
    ['/api/v1/listings/mcp.weather/kit.json'],
    ['/api/v1/call/weather'],
    ['/go/weather'],
    ['/listing/weather.atom'],
  ])('an id near another is told which, at %s', async (path) => {
    const answer = await fetch(`${service.url}${path}`, { redirect: 'manual' })
    expect([answer.status, await answer.json()]).toMatchObject([
      404,
      {
        code: 'listing-not-found',
        detail: expect.stringContaining('did you mean x402.weather?'),
      },
    ])
  })
})

describe('a listing that has another id', () => {
  const ask = (path: string, init: RequestInit = {}) =>
    fetch(service.url + path, { ...init, redirect: 'manual' })

  test.each([
    ['/listing/x402.early-weather', '/listing/x402.weather'],
    ['/listing/x402.former-weather.md', '/listing/x402.weather.md'],
    ['/gone/x402.former-weather', '/listing/x402.weather'],
    ['/api/v1/listings/x402.early-weather', '/api/v1/listings/x402.weather'],
    [
      '/api/v1/listings/x402.early-weather/kit.json?view=compact',
      '/api/v1/listings/x402.weather/kit.json?view=compact',
    ],
    ['/badge/x402.early-weather.svg', '/badge/x402.weather.svg'],
    ['/go/x402.former-weather?pos=3&src=api', '/go/x402.weather?pos=3&src=api'],
    ['/api/v1/call/x402.former-weather?relay_info', '/api/v1/call/x402.weather?relay_info'],
    ['/listing/x402.elsewhere-weather', '/listing/x402.weather'],
  ])('%s leads to %s in one step', async (path, location) => {
    for (const accept of ['text/html', '*/*', 'text/markdown']) {
      const answer = await ask(path, { headers: { accept } })
      expect([answer.status, answer.headers.get('location')]).toEqual([308, location])
    }
    expect(await (await ask(path)).json()).toMatchObject({
      code: 'listing-moved',
      reason: 'moved',
      moved_to: 'x402.weather',
    })
  })

  test('a call is not sent on: its caller repeats it, unless it would leave the host it was meant for', async () => {
    const paid = { method: 'POST', body: '{}', headers: { 'payment-signature': 'e30=' } }
    const same = await ask('/api/v1/call/x402.former-weather?endpoint=/v1/forecast', paid)
    expect(same.status).toBe(308)
    expect(same.headers.get('location')).toBe('/api/v1/call/x402.weather?endpoint=/v1/forecast')
    expect(same.headers.get('proxy-status')).toContain('error=destination_not_found')
    const other = await ask('/api/v1/call/x402.elsewhere-weather', paid)
    expect([other.status, other.headers.get('location')]).toEqual([410, null])
    expect(await other.json()).toMatchObject({ moved_to: 'x402.weather', another_host: true })
  })

  test('comparisons and the Markdown page know it by its former id', async () => {
    const compared = await ask('/api/v1/compare?ids=x402.early-weather,x402.tide-tables')
    expect(JSON.stringify(await compared.json())).toContain('"x402.weather"')
  })
})
