import { createServer } from 'node:https'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { afterEach, expect, test, vi } from 'vitest'
import { createResolver } from '../../functions/net/resolver.ts'
import { systemClock } from '../../functions/ports/clock.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import type { Release } from '../../functions/release/release.ts'
import { createProver } from '../../functions/sellers/proofs.ts'
import { GITHUB_ISSUER, readClaimHost } from '../../src/domain/sellers/claim-rules.ts'
import { makeCertificate } from '../support/certificate.ts'
import { type DnsServer, startDnsServer } from '../support/dns-server.ts'
import { listen } from '../support/listen.ts'
import { SHARED_HOSTS } from '../support/shared-hosts.ts'
import { type Site, startSite } from '../support/site.ts'

let site: Site | undefined
let dns: DnsServer | undefined
afterEach(async () => {
  vi.useRealTimers()
  vi.restoreAllMocks()
  await site?.close()
  dns?.close()
  site = undefined
  dns = undefined
})

/** Proofs look at nothing of a release but who shares hosts. */
const release = () => ({ sharedHosts: SHARED_HOSTS }) as Partial<Release> as Release
const token = 'x'.repeat(43)
const email = 'a@b.example'

const hostFor = (url: string) =>
  readClaimHost(url, 'well_known', { sharedHosts: SHARED_HOSTS, issuer: GITHUB_ISSUER })

function proverFor(servers: string[], env: Record<string, string> = {}) {
  const config = parseConfig({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true', ...env })
  return createProver({ config, resolver: createResolver(servers), release, clock: systemClock })
}

test('a web server that drips bytes for ever is cut when its ten seconds are over', async () => {
  site = await startSite()
  const dripping = Promise.withResolvers<void>()
  const hungUp = Promise.withResolvers<void>()
  site.answer = (_req, res) => {
    res.writeHead(200, { 'Content-Type': 'text/plain' })
    const drip = setInterval(() => res.write('.', () => dripping.resolve()), 5)
    res.on('close', () => {
      clearInterval(drip)
      hungUp.resolve()
    })
  }
  const deadline = new AbortController()
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal)
  const host = hostFor(`${site.url}/`)
  const proof = proverFor(['127.0.0.1:1'])({ host, method: 'well_known', token, email })
  await dripping.promise
  deadline.abort(new DOMException('over', 'TimeoutError'))
  expect(await proof).toMatchObject({ verified: false, reason: 'timeout' })
  await hungUp.promise
  expect(timeout.mock.calls).toEqual([[10_000]])
})

test('a resolver that hangs is waited for ten seconds', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  const config = parseConfig({})
  const prove = createProver({
    config,
    resolver: { addresses: async () => [], txt: () => new Promise(() => {}) },
    clock: systemClock,
    release,
  })
  let isOver = false
  const host = hostFor('https://api.shop.example/')
  const proof = prove({ host, method: 'dns_txt', token, email }).finally(() => {
    isOver = true
  })
  await vi.advanceTimersByTimeAsync(9_999)
  expect(isOver).toBe(false)
  await vi.advanceTimersByTimeAsync(1)
  expect(await proof).toMatchObject({ verified: false, reason: 'dns_failed' })
})

test('name servers that are silent prove nothing', async () => {
  dns = await startDnsServer()
  dns.mood = 'silent'
  const host = hostFor('https://api.shop.example/')
  const proof = await proverFor([dns.address])({ host, method: 'dns_txt', token, email })
  expect(proof).toMatchObject({ verified: false, reason: 'dns_failed' })
})

test('without the trial setting a host that resolves to this machine is refused, unasked', async () => {
  site = await startSite()
  dns = await startDnsServer()
  let hits = 0
  site.answer = (_req, res) => {
    hits += 1
    res.end(token)
  }
  for (const address of ['127.0.0.1', '10.0.0.1', '169.254.169.254']) {
    dns.a.set('rebind.shop.example', ['93.184.216.34', address])
    const host = hostFor('https://rebind.shop.example/')
    const prove = proverFor([dns.address], { UNSAFE_ALLOW_PRIVATE_TARGETS: 'false' })
    const proof = await prove({ host, method: 'well_known', token, email })
    expect(proof).toMatchObject({ verified: false, reason: 'address_refused' })
  }
  expect(hits).toBe(0)
})

test('over https: a certificate nobody vouches for is refused, a trusted one is proof', async () => {
  const pair = makeCertificate('shop.localtest.example')
  if (pair === null) return console.log('skipped: needs the openssl command')
  const secure = createServer(pair, (_req, res) =>
    res.writeHead(200, { 'Content-Type': 'text/plain' }).end(token),
  )
  const port = await listen(secure)
  dns = await startDnsServer()
  for (const name of ['shop.localtest.example', 'other.localtest.example'])
    dns.a.set(name, ['127.0.0.1'])
  const prove = proverFor([dns.address])
  const at = (name: string) =>
    prove({
      host: hostFor(`https://${name}:${port}/`),
      method: 'well_known',
      token,
      email,
    })
  expect(await at('shop.localtest.example')).toMatchObject({ reason: 'unreachable' })
  const before = getCACertificates('default')
  setDefaultCACertificates([...before, pair.cert])
  expect(await at('shop.localtest.example')).toMatchObject({ verified: true })
  const wrongName = await at('other.localtest.example')
  expect(wrongName).toMatchObject({ verified: false, reason: 'unreachable' })
  expect(wrongName.observed).toContain('ALTNAME')
  setDefaultCACertificates(before)
  secure.close()
})
