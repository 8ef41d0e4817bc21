import { expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

// Answers are the wire's JSON; what each must hold is asserted field by field.
const read = async (path: string) => (await fetch(waypost.url + path)).json()
const KINDS = ['kit', 'http_api', 'mcp_server', 'a2a_agent']

test('spec:service.1 four kinds are listed, and paid ones name x402 or mpp', async () => {
  const { listings } = await read('/api/v1/stats')
  expect(Object.keys(listings.by_kind).toSorted()).toEqual(KINDS.toSorted())
  expect(Object.keys(listings.by_rail).toSorted()).toEqual(['mpp', 'x402'])
  const { results } = await read('/api/v1/search?paid_only=true&limit=50')
  expect(results.length).toBeGreaterThan(2)
  for (const { pricing } of results) {
    expect(pricing.rails.length).toBeGreaterThan(0)
    expect(['x402', 'mpp']).toEqual(expect.arrayContaining(pricing.rails))
  }
})

test('spec:service.2 searching is free, changes nothing, and says payments are off', async () => {
  const first = await read('/api/v1/search?q=weather')
  expect(first.payments_enabled).toBe(false)
  const again = await read('/api/v1/search?q=weather')
  const idsOf = ({ results }: { results: { id: string }[] }) => results.map(({ id }) => id)
  expect(idsOf(again)).toEqual(idsOf(first))
  const written = await fetch(`${waypost.url}/api/v1/search`, { method: 'POST' })
  expect([written.status, written.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS'])
})

test('spec:service.3 the call endpoint holds no funds and takes no fee', async () => {
  const info = await read('/api/v1/call/x402.weather?relay_info=1')
  expect(info).toMatchObject({ relayable: true, custody: 'none', fee_usd: 0 })
  expect(info.request_headers).toEqual(expect.arrayContaining(['X-PAYMENT', 'PAYMENT-SIGNATURE']))
})

test('spec:service.4 a score follows from payments alone, and few of them are marked', async () => {
  const trustOf = async (id: string) => (await read(`/api/v1/listings/${id}`)).trust
  expect(await trustOf('api.open-parks')).toMatchObject({
    score: null,
    evidence: 'no_payment_data',
  })
  const many = await trustOf('x402.weather')
  expect(many.score).toBeGreaterThan(0)
  expect(many).not.toHaveProperty('sample')
  expect(await trustOf('x402.tide-tables')).toMatchObject({ sample: 'low' })
  // No score is not a minus: such a listing is found with its text score as it is.
  const { results } = await read('/api/v1/search?q=parks')
  expect(results[0]).toMatchObject({ id: 'api.open-parks', trust: { score: null } })
})

test('spec:service.5 spec:versioning.4 the trust method is served under its name', async () => {
  expect((await read('/api/v1/trust/method')).method).toBe('hub-trust-v0.1')
  expect((await read('/api/v1/listings/x402.weather')).trust.method).toBe('hub-trust-v0.1')
})

test('spec:service.6 listings start unclaimed, and signing in is asked for by address', async () => {
  const { results } = await read('/api/v1/search?limit=50')
  expect(new Set(results.map(({ status }: { status: string }) => status))).toEqual(
    new Set(['unclaimed']),
  )
  const sent = await fetch(`${waypost.url}/api/v1/sellers/login`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json' },
    body: JSON.stringify({ email: 'owner@weather.example' }),
  })
  expect([sent.status, await sent.json()]).toEqual([200, { status: 'sent' }])
})

test('spec:service.7 nothing is sponsored, and own kits stand in rows of their own', async () => {
  const answer = await read('/api/v1/search?q=weather&limit=50')
  expect(answer.sponsored).toEqual([])
  const ids = answer.results.map(({ id }: { id: string }) => id)
  expect(ids.filter((id: string) => id.startsWith('kit.'))).toEqual([])
  expect(answer.featured_first_party.map(({ id }: { id: string }) => id)).toEqual([
    'kit.first-steps',
  ])
  expect(answer.featured_label).toMatch(/no fee/i)
})

test('spec:service.8 a click redirects to the listing’s own address and keeps no person', async () => {
  const { url } = await read('/api/v1/listings/x402.weather')
  const click = await fetch(`${waypost.url}/go/x402.weather?src=api&pos=1`, { redirect: 'manual' })
  expect([click.status, click.headers.get('location')]).toEqual([302, url])
  expect(click.headers.get('set-cookie')).toBeNull()
  expect(click.headers.get('referrer-policy')).toBe('no-referrer')
})

test.each([
  ['GET', '/api/v1/sponsored'],
  ['POST', '/api/v1/sellers/verify'],
  ['POST', '/api/v1/tools/kit-builder'],
  ['GET', '/api/v1/buyers/account'],
])('spec:service.9 %s %s is a stub and says so', async (method, path) => {
  const answer = await fetch(waypost.url + path, { method })
  expect(answer.status).toBe(501)
  expect((await answer.json()).code).toBe('not-implemented')
})

test('spec:service.10 other directories are linked with a note, and nothing of theirs is kept', async () => {
  const { also_search } = await read('/api/v1/search')
  const { sources } = await read('/api/v1/sources')
  const linked = sources.filter(({ decision }: { decision: string }) => decision === 'link_out')
  expect(also_search.length).toBeGreaterThan(0)
  for (const other of also_search) {
    expect(linked.map(({ url }: { url: string }) => url)).toContain(other.url)
    expect(Object.keys(other).toSorted()).toEqual(['name', 'note', 'url'])
    expect(other.url).toMatch(/^https:\/\//)
  }
})
