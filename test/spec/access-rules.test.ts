import { expect, test } from 'vitest'
import { toSellerHeaders } from '../../src/domain/relay/relayed-headers.ts'
import { CLAIM_METHODS } from '../../src/domain/wire/vocabulary.ts'
import { forAllTests } from '../support/for-tests.ts'
import { serveFixture } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { createVisitor, tokenOf } from '../support/visitor.ts'
import { ALL_LIMITS_OFF, openWorld } from '../support/world.ts'

const waypost = serveFixture()
const world = forAllTests(() =>
  openWorld({ env: { STATE_DIR: tempFolder('state'), RATE_LIMITS: ALL_LIMITS_OFF } }),
)

const read = async (path: string) => (await fetch(waypost.url + path)).json()

test.each([
  '/api/v1/search',
  '/api/v1/listings/x402.weather',
  '/api/v1/listings/x402.weather/kit.json',
  '/api/v1/call/x402.weather?relay_info=1',
  '/api/v1/categories',
  '/api/v1/sources',
  '/api/v1/stats',
  '/api/v1/trust/method',
  '/api/v1/business-model',
  '/api/v1/roadmap',
  '/api/v1/market/reports',
])('spec:authentication.1 %s answers without a credential', async (path) => {
  expect((await fetch(waypost.url + path)).status).toBe(200)
})

test('spec:authentication.2 a caller’s payment passes as it is, and the seller’s 402 decides', async () => {
  const kit = await read('/api/v1/listings/x402.weather/kit.json')
  expect(JSON.stringify(kit.payment)).toMatch(/402[^"]*authoritative/)
  const payment = ['X-PAYMENT', 'eyJwYXkiOjF9==', 'payment-signature', 'c2lnbmVk']
  expect(
    toSellerHeaders(['Cookie', 'session=secret', ...payment], 'https://waypost.example'),
  ).toEqual(payment)
})

test('spec:authentication.3 a seller signs in by mail, and the cookie opens the seller endpoints', async () => {
  const visitor = createVisitor(world)
  for (const path of ['/me', '/claim', '/me/analytics'])
    expect([path, (await visitor.get(path)).status]).toEqual([path, 401])
  await visitor.signIn('ann@shop.example')
  for (const path of ['/me', '/claim', '/me/analytics'])
    expect([path, (await visitor.get(path)).status]).toEqual([path, 200])
})

test('spec:authentication.4 a domain is proven by file, DNS record or mail, and nothing else', async () => {
  // A workflow speaks for a page of a code host, and for no domain.
  const ofDomains = CLAIM_METHODS.filter((method) => method !== 'oidc')
  expect([...ofDomains].sort()).toEqual(['contact_email', 'dns_txt', 'well_known'])
  const visitor = createVisitor(world)
  await visitor.signIn('bob@shop.example')
  const refused = await visitor.post('/claim', { listing_id: 'x402.weather', method: 'phone' })
  expect(refused.status).toBe(400)
  expect((await refused.json()).errors[0]).toMatchObject({ in: 'body', name: 'method' })
})

test('spec:authentication.5 the cookie is named session, out of reach of scripts, for 30 days', async () => {
  const cookie = await createVisitor(world).signIn('cat@shop.example')
  expect(cookie).toMatch(/^session=[\w-]{43}; HttpOnly; Max-Age=2592000; Path=\/; SameSite=Lax$/)
})

test('spec:authentication.6 a sign-in link carries 256 random bits and works once', async () => {
  const visitor = createVisitor(world)
  await visitor.post('/login', { email: 'dan@shop.example' })
  const token = await tokenOf(world, 'dan@shop.example')
  expect(token).toMatch(/^[\w-]{43}$/)
  expect((await visitor.post('/session', { token })).status).toBe(200)
  expect((await visitor.post('/session', { token })).status).toBe(400)
})

test('spec:versioning.1 the interface says version 0.1.0', async () => {
  expect((await read('/openapi.json')).info.version).toBe('0.1.0')
})

test('spec:versioning.2 JSON endpoints live under /api/v1, clicks under /go', async () => {
  const { features } = await read('/api/v1/roadmap')
  const paths = features
    .filter(({ status }: { status: string }) => status !== 'planned')
    .map(({ endpoint }: { endpoint: string }) => endpoint.split(' ').at(-1) ?? '')
  expect(paths.filter((path: string) => path.startsWith('/go/'))).toHaveLength(1)
  expect(paths.filter((path: string) => path.startsWith('/api/v1/')).length).toBeGreaterThan(15)
})

test('spec:versioning.3 a kit manifest says v0.1', async () => {
  const kit = await read('/api/v1/listings/mcp.harbour/kit.json')
  expect(kit.kit_version).toBe('v0.1')
})

test('spec:versioning.5 within a version fields are only added: the specified ones are all there', async () => {
  const { results } = await read('/api/v1/search?q=fair+weather')
  expect(Object.keys(results[0])).toEqual(
    expect.arrayContaining(
      'id name kind status summary url categories pricing trust invoke sources badges tiers links buy relevance'.split(
        ' ',
      ),
    ),
  )
  const listing = await read('/api/v1/listings/x402.weather')
  expect(Object.keys(listing)).toEqual(
    expect.arrayContaining(
      'id name summary kind url categories tags sources pricing status first_party discovery trust signals origin attribution badges tiers page kit_manifest go claim'.split(
        ' ',
      ),
    ),
  )
})
