import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listVerdicts } from '../../functions/net/guard.ts'
import { createHttpClient } from '../../functions/net/http-client.ts'
import { PURPOSES, type Purpose } from '../../functions/net/purposes.ts'
import { probeHandshake } from '../../functions/probe/probe-handshake.ts'
import { createProver } from '../../functions/sellers/proofs/prover.ts'
import { createJsonRpc } from '../../functions/settlements/json-rpc.ts'
import { createSellerReader } from '../../seeds/fetch/read-sellers.ts'
import { fetchText } from '../../seeds/fetch/read-source.ts'
import { inspectService } from '../../seeds/review/inspect-service.ts'
import { createReviewClient } from '../../seeds/review/reports.ts'
import { readClaimHost } from '../../src/domain/owners/claim-rules.ts'
import { liveListing } from '../support/live-listing.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { type SellerSite, startSellerSite } from '../support/seller-site.ts'

let site: SellerSite
let waypost: RunningService
/** What came in: connections, and the User-Agent of each request. */
let connections = 0
let agents: string[] = []
beforeAll(async () => {
  site = await startSellerSite()
  site.server.on('connection', () => {
    connections += 1
  })
  site.answer = (req, res) => {
    agents.push(String(req.headers['user-agent']))
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
  }
  waypost = await startService({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })
  const { listings } = waypost.service.parts.release()
  if (!(listings instanceof Map)) throw new Error('expected a map')
  listings.set('api.site', { ...liveListing('api.site', `${site.url}/`), buy: 'relay_x402' })
})
afterAll(async () => {
  await waypost?.close()
  await site?.close()
})

const countAllowed = (purpose: Purpose) =>
  listVerdicts()
    .filter((row) => row.purpose === purpose && /^(?:allowed|by_operator)$/.test(row.verdict))
    .reduce((sum, { count }) => sum + count, 0)

/** Each caller that sends requests, and how it is made to send one. */
const CALLERS: [name: string, purpose: Purpose, dial: () => Promise<unknown>][] = [
  ['the relay', 'relay', () => fetch(`${waypost.url}/api/v1/call/api.site`)],
  [
    'a probe',
    'probe',
    async () => {
      const { config, resolver } = waypost.service.parts
      await using client = createHttpClient('probe', { config, resolver })
      const request = { method: 'GET' as const, url: site.url, headers: {} }
      await probeHandshake({ kind: 'http', request, expected: null }, client, Date.now)
    },
  ],
  ['lint', 'stranger', () => fetch(`${waypost.url}/api/v1/lint?as=http&url=${site.url}/`)],
  [
    'a look at a reported service',
    'stranger',
    async () => {
      await using client = createReviewClient(waypost.service.parts.config)
      await inspectService(`${site.url}/new`, client, '2026-11-20')
    },
  ],
  [
    'a claim',
    'claim',
    () => {
      const { parts } = waypost.service
      const rules = { sharedHosts: parts.release().sharedHosts, issuer: 'https://issuer.example' }
      const host = readClaimHost(`${site.url}/`, 'well_known', rules)
      const request = { method: 'well_known', token: 'x'.repeat(43), email: 'a@b.example' } as const
      return createProver(parts)({ host, ...request })
    },
  ],
  ['an importer', 'source', () => fetchText(new URL(site.url), { retryMs: 1 })],
  [
    'an importer’s sellers',
    'stranger',
    async () => {
      const reader = createSellerReader(true)
      await reader.read(`${site.url}/card.json`)
      await reader.close()
    },
  ],
  ['a node of a chain', 'node', () => createJsonRpc(site.url).call('eth_chainId', [], v.string())],
]

test.each(CALLERS)('%s goes out as %s, and by no other way', async (_, purpose, dial) => {
  connections = 0
  agents = []
  const before = countAllowed(purpose)
  await dial()
  expect(connections).toBeGreaterThan(0)
  expect(countAllowed(purpose) - before).toBe(connections)
  const [own = ''] = PURPOSES[purpose].userAgent.split(' ')
  if (own !== '') for (const agent of agents) expect(agent).toContain(own)
})

test('every purpose has a caller here', () => {
  expect(new Set(CALLERS.map(([, purpose]) => purpose))).toEqual(new Set(Object.keys(PURPOSES)))
})

/** Files that send requests to what their operator names, with clients of their own. */
const OTHERS = [
  // Our own health.
  'functions/commands/health.ts',
  // The relay's streams, over a connection of the guard.
  'functions/call/seller-call.ts',
]

test('no other file opens a connection by HTTP', () => {
  const dials = /from 'undici'|from 'node:https'|globalThis\.fetch|\brequest as openRequest\b/
  const fetches = /\b(?:await|return) fetch\(/
  const hasClient = /\{ fetch \}: Fetcher/
  const sends = (text: string) => dials.test(text) || (fetches.test(text) && !hasClient.test(text))
  const files = ['functions', 'seeds'].flatMap((root) =>
    readdirSync(root, { recursive: true, encoding: 'utf8' }).map((name) => join(root, name)),
  )
  const found = files
    .filter((file) => file.endsWith('.ts') && !file.startsWith('functions/net/'))
    .filter((file) => sends(readFileSync(file, 'utf8')))
  expect(found.toSorted()).toEqual(OTHERS.toSorted())
})
