import { request } from 'node:http'
import { expect, test } from 'vitest'
import { toHour } from '../../functions/store/store.ts'
import { forAllTests } from '../support/for-tests.ts'
import { liveListing } from '../support/live-listing.ts'
import { describeStores } from '../support/stores.ts'
import { ALL_LIMITS_OFF, openWorld } from '../support/world.ts'

const WEATHER = liveListing('x402.weather', 'https://api.example.com/weather?units=si')
const SID = '8d1b0f0e-7a1c-4c58-9b3a-3f6f0a9c1d2e'

describeStores('/go', ({ newPlace }) => {
  const world = forAllTests(async () => {
    const { config } = await newPlace()
    return openWorld({ env: { ...config, RATE_LIMITS: ALL_LIMITS_OFF }, listings: [WEATHER] })
  })

  const go = (path: string, init: RequestInit = {}) =>
    fetch(world.url + path, { redirect: 'manual', ...init })
  const lastClick = async () => {
    const rows = await world.parts.ledger.store.db.selectFrom('click').selectAll().execute()
    return rows.at(-1)
  }

  test('a click is logged with what its link said, and redirected to the listing', async () => {
    const hours = [toHour(Date.now())]
    const answer = await go(`/go/x402.weather?sid=${SID}&pos=3&src=api`)
    hours.push(toHour(Date.now()))
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe(WEATHER.url)
    expect(answer.headers.get('cache-control')).toBe('no-store')
    expect(answer.headers.get('referrer-policy')).toBe('no-referrer')
    expect(answer.headers.get('set-cookie')).toBeNull()
    expect(await lastClick()).toEqual({
      hour: expect.toBeOneOf(hours),
      listing_id: 'x402.weather',
      sid: SID,
      pos: 3,
      src: 'api',
      bot: 0,
    })
  })

  test.each([
    'sid=%0d%0aSet-Cookie:%20x=1',
    "sid=';DROP TABLE click",
    `sid=${'a'.repeat(5000)}`,
    `sid=${SID.toUpperCase()}`,
    'pos=-1',
    'pos=0',
    'pos=1e9',
    'pos=1.5',
    'pos=abc',
    'pos=10001',
    'pos=%33',
    'src=evil',
    'src=WEB',
    'src=%0a{"fake":1}',
    'url=https://evil.example',
    'next=//evil.example',
    'sid&pos&src',
    '&&&=&=',
    '%ff%zz',
  ])('a bad %s is logged as null and never costs the redirect', async (query) => {
    const answer = await go(`/go/x402.weather?${query}`)
    expect(answer.status).toBe(302)
    expect(answer.headers.get('location')).toBe(WEATHER.url)
    expect(await lastClick()).toMatchObject({ sid: null, pos: null, src: null, bot: 0 })
  })

  test.each([
    '/go/x402.nope',
    '/go/%2f%2fevil.example',
    '/go/https:%2f%2fevil.example',
    '/go/%5cevil.example',
    '/go/__proto__',
    '/go/constructor',
    '/go/x402.weather%00',
    '/go/',
  ])('%s is not a listing: 404 without a Location', async (path) => {
    const answer = await go(path)
    expect(answer.status).toBe(404)
    expect(answer.headers.get('location')).toBeNull()
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
  })

  test.each([
    [{ headers: { 'User-Agent': 'Mozilla/5.0 (compatible; Googlebot/2.1)' } }, 1],
    [{ headers: { 'Sec-Purpose': 'prefetch;prerender' } }, 1],
    [{ headers: { Purpose: 'prefetch' } }, 1],
    [{ method: 'HEAD' }, 1],
    [{ headers: { 'User-Agent': 'python-requests/2.32' } }, 0],
    [{ headers: { 'User-Agent': 'curl/8.5.0' } }, 0],
    [{ headers: { 'User-Agent': 'Mozilla/5.0 (Macintosh) AppleWebKit Safari' } }, 0],
  ])('%j is flagged as bot: %i', async (init, bot) => {
    const answer = await go('/go/x402.weather', init)
    expect(answer.status).toBe(302)
    expect(await lastClick()).toMatchObject({ bot })
  })

  test('nothing of the request but its link is kept anywhere', async () => {
    const marker = 'planted-4711'
    await go(`/go/x402.weather?src=web&q=${marker}`, {
      headers: {
        Cookie: `a=${marker}`,
        Referer: `https://x.example/?email=${marker}`,
        'User-Agent': `"} { ${marker}`,
        'X-Forwarded-For': '203.0.113.77',
      },
    })
    const kept = JSON.stringify(
      await world.parts.ledger.store.db.selectFrom('click').selectAll().execute(),
    )
    for (const secret of [marker, '203.0.113.77', '127.0.0.1']) {
      expect(kept).not.toContain(secret)
      expect(world.logLines.join('')).not.toContain(secret)
    }
  })

  test('two hundred clicks at once are all in the store when the last redirect is received', async () => {
    const count = async () => {
      const { n } = await world.parts.ledger.store.db
        .selectFrom('click')
        .select(({ fn }) => fn.countAll<number>().as('n'))
        .executeTakeFirstOrThrow()
      return n
    }
    const before = await count()
    const answers = await Promise.all(Array.from({ length: 200 }, () => go('/go/x402.weather')))
    expect(answers.filter(({ status }) => status === 302)).toHaveLength(200)
    expect(await count()).toBe(before + 200)
  })

  test('a raw target with control bytes stays out of every table', async () => {
    const { port } = new URL(world.url)
    const status = await new Promise((resolve) => {
      request({ port, host: '127.0.0.1', path: '/go/x402.weather?src=web%00&sid=%1b[31m' }, (res) =>
        resolve(res.resume().statusCode),
      ).end()
    })
    expect(status).toBe(302)
    expect(await lastClick()).toMatchObject({ sid: null, src: null })
  })
})

describeStores('/go and its limit', ({ newPlace }) => {
  test('a client that clicks too often is redirected all the same, and no longer counted', async () => {
    const { config } = await newPlace()
    const world = await openWorld({
      env: { ...config, RATE_LIMITS: '{"go":"3/60"}' },
      listings: [WEATHER],
    })
    for (let click = 0; click < 5; click += 1) {
      const { status, headers } = await fetch(`${world.url}/go/x402.weather`, {
        redirect: 'manual',
      })
      expect([status, headers.get('location')]).toEqual([302, WEATHER.url])
    }
    const clicks = await world.parts.ledger.store.db.selectFrom('click').selectAll().execute()
    expect(clicks).toHaveLength(3)
    await world.close()
  })
})
