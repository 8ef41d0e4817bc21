import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { createHttpClient } from '../../functions/net/http-client.ts'
import { probeHandshake } from '../../functions/probes/handshake.ts'
import { createProver } from '../../functions/sellers/proofs.ts'
import type { Handshake } from '../../src/domain/probe/plan.ts'
import { readClaimHost } from '../../src/domain/sellers/claim-rules.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { forAllTests } from '../support/for-tests.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { startSite } from '../support/site.ts'

/** One machine inside, known by two names; the directory was told of one of them. */
const NAMED = 'api.corp.example'
const STRANGER = 'api.stranger.example'
const TOKEN = 'x'.repeat(43)
let dns: DnsServer
const inside = forAllTests(startSite)
let acme: RunningService
/** What the machine inside was asked: host name and path. */
let heard: string[]
beforeAll(async () => {
  dns = await startDnsServer()
  acme = await startService({ PRIVATE_HOSTS: '*.corp.example', DNS_SERVERS: dns.address })
  acme.list('api.named', urlOf(NAMED))
  acme.list('api.stranger', urlOf(STRANGER))
})
afterAll(async () => {
  await acme?.close()
  dns?.close()
})
beforeEach(() => {
  heard = []
  dns.a.clear()
  for (const host of [NAMED, STRANGER]) dns.a.set(host, ['127.0.0.1'])
  inside.answer = (req, res) => {
    heard.push(`${req.headers.host?.split(':')[0]}${req.url}`)
    res.writeHead(200, { 'content-type': 'text/plain' }).end(`${TOKEN}\n`)
  }
})

const urlOf = (host: string) => `http://${host}:${inside.port}/`

const call = async (id: string) => {
  const response = await fetch(`${acme.url}/api/v1/call/${id}`)
  return { status: response.status, text: await response.text() }
}
/** As the hourly chore asks a listing. */
const probe = async (host: string) => {
  const { config, resolver } = acme.service.parts
  await using client = createHttpClient('probe', { config, resolver })
  const operation = { method: 'GET' as const, url: urlOf(host) }
  const request = { ...operation, headers: {} }
  const planned = { request, operation, is_paid: false, is_guess: false, expected: null }
  const handshake: Handshake = { kind: 'http', rails: [], requests: [planned] }
  const finding = await probeHandshake(handshake, client, Date.now)
  return finding.saw
}
/** As a stranger asks by the API: a check of an address, a report. */
const strangersWays = (url: string): [what: string, path: string, body?: object][] => [
  ['lint', `/api/v1/lint?url=${encodeURIComponent(url)}`],
  ['lint as MCP', `/api/v1/lint?as=mcp&url=${encodeURIComponent(url)}`],
  ['the page of checks', `/sellers/check?url=${encodeURIComponent(url)}`],
  ['a report', '/api/v1/reports', { kind: 'new', about: url }],
]
const askAsStranger = async (path: string, body?: object) => {
  const response = await fetch(`${acme.url}${path}`, {
    headers: { 'content-type': 'application/json', accept: 'text/html, application/json' },
    ...(body !== undefined && { method: 'POST', body: JSON.stringify(body) }),
  })
  return { status: response.status, text: await response.text() }
}
const prove = (host: string) => {
  const { parts } = acme.service
  const rules = { sharedHosts: parts.release().sharedHosts, issuer: 'https://issuer.example' }
  const request = { method: 'well_known', token: TOKEN, email: 'a@b.example' } as const
  return createProver(parts)({
    host: readClaimHost(urlOf(host), 'well_known', rules),
    ...request,
  })
}

test('a call, a probe and a claim reach a host inside that was named', async () => {
  expect(await call('api.named')).toEqual({ status: 200, text: `${TOKEN}\n` })
  await probe(NAMED)
  expect(await prove(NAMED)).toMatchObject({ verified: true })
  expect(heard).toEqual([
    `${NAMED}/`,
    expect.stringMatching(`^${NAMED}/`),
    `${NAMED}/.well-known/listing-claim.txt`,
  ])
})

describe('what a stranger names reaches nothing inside, though the host is open to listings', () => {
  let open: RunningService
  let connections: number
  beforeAll(async () => {
    open = acme
    // By name, and every address of loopback.
    acme = await startService({
      PRIVATE_HOSTS: '*.corp.example,127.0.0.0/8',
      DNS_SERVERS: dns.address,
    })
    inside.server.on('connection', () => {
      connections += 1
    })
  })
  afterAll(async () => {
    await acme.close()
    acme = open
  })

  test.each([
    ['a host that was named', () => urlOf(NAMED)],
    ['an address of a range', () => inside.url],
    ['an address written as a number', () => `http://2130706433:${inside.port}/`],
    ['a public name that leads inside', () => 'https://rebound.example/'],
  ])('%s', async (_, toUrl) => {
    dns.a.set('rebound.example', ['127.0.0.1'])
    connections = 0
    for (const [what, path, body] of strangersWays(toUrl())) {
      const { status, text } = await askAsStranger(path, body)
      expect(text, what).not.toContain(TOKEN)
      expect([200, 202, 400, 422], `${what}: ${text}`).toContain(status)
    }
    expect({ heard, connections }).toEqual({ heard: [], connections: 0 })
  })
})

test('none of them reaches it by a name that was not', async () => {
  const { status, text } = await call('api.stranger')
  expect([status, JSON.parse(text).code]).toEqual([502, 'seller-refused'])
  expect(await probe(STRANGER)).toMatch(/https|public/)
  expect(await prove(STRANGER)).toMatchObject({ verified: false, reason: 'address_refused' })
  expect(heard).toEqual([])
})

describe('a host that was named leads nowhere else', () => {
  test('by a redirect', async () => {
    inside.answer = (req, res) => {
      heard.push(`${req.headers.host?.split(':')[0]}`)
      res.writeHead(302, { location: urlOf(STRANGER) }).end()
    }
    expect(JSON.parse((await call('api.named')).text).code).toBe('seller-redirected')
    expect(await probe(NAMED)).toMatch(/redirect|302/)
    expect(await prove(NAMED)).toMatchObject({ verified: false, reason: 'redirected_elsewhere' })
    expect(new Set(heard)).toEqual(new Set([NAMED]))
  })

  test.each([
    ['cloud metadata', ['169.254.169.254']],
    ['one address of several', ['127.0.0.1', '168.63.129.16']],
  ])('by a name that turns to %s', async (_, addresses) => {
    expect((await call('api.named')).status).toBe(200)
    heard = []
    dns.a.set(NAMED, addresses)
    expect(JSON.parse((await call('api.named')).text).code).toBe('seller-refused')
    expect(await probe(NAMED)).toMatch(/refused|public/)
    expect(await prove(NAMED)).toMatchObject({ verified: false, reason: 'address_refused' })
    expect(heard).toEqual([])
  })
})
