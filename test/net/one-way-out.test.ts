import * as v from 'valibot'
import { beforeAll, describe, expect, test } from 'vitest'
import { listVerdicts, PURPOSES, type Purpose } from '../../functions/net/guard.ts'
import { createHttpClient } from '../../functions/net/http-client.ts'
import { probeHandshake } from '../../functions/probes/handshake.ts'
import { createProver } from '../../functions/sellers/proofs.ts'
import { createJsonRpc } from '../../functions/trust/evm-chain.ts'
import { createSellerReader } from '../../seeds/fetch/read-sellers.ts'
import { fetchText } from '../../seeds/fetch/read-source.ts'
import { createReviewClient, inspectService } from '../../seeds/review/reports.ts'
import type { Handshake } from '../../src/domain/probe/plan.ts'
import { readClaimHost } from '../../src/domain/sellers/claim-rules.ts'
import { forAllTests } from '../support/for-tests.ts'
import { findNetworkUse } from '../support/network-use.ts'
import { serveFixture } from '../support/running-service.ts'
import { startSite } from '../support/site.ts'
import { toSourceFile } from '../support/source-tree.ts'

const site = forAllTests(startSite)
const waypost = serveFixture({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })
/** What came in: connections, and the User-Agent of each request. */
let connections = 0
let agents: string[] = []
beforeAll(() => {
  site.server.on('connection', () => {
    connections += 1
  })
  site.answer = (req, res) => {
    agents.push(String(req.headers['user-agent']))
    res.writeHead(200, { 'content-type': 'application/json' })
    res.end('{"jsonrpc":"2.0","id":1,"result":"0x1"}')
  }
  waypost.list('api.site', `${site.url}/`)
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
      const operation = { method: 'GET' as const, url: site.url }
      const request = { ...operation, headers: {} }
      const planned = { request, operation, is_paid: false, is_guess: false, expected: null }
      const handshake: Handshake = { kind: 'http', rails: [], requests: [planned] }
      await probeHandshake(handshake, client, Date.now)
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

/** The product's own files are looked at where all of them are parsed: `test/architecture.test.ts`. */
describe('a file that opens a connection is seen', () => {
  const usesIn = (text: string, path = 'functions/x.ts') =>
    findNetworkUse(toSourceFile(path, text)).length

  test.each([
    'await fetch(url)',
    'const x = fetch',
    'send({ fetch })',
    'send({ by: fetch })',
    'const x = globalThis.fetch',
    "const x = globalThis['fetch']",
    'const { fetch: x } = globalThis',
    'const all = globalThis',
    'function f({ fetch }) {} fetch(url)',
    'export { fetch }',
    'new WebSocket(url)',
    'navigator.sendBeacon(url)',
    "import { request } from 'node:http'",
    "import { get as read, createServer } from 'https'",
    "import http from 'node:http'",
    "import * as http2 from 'node:http2'",
    "import { connect } from 'node:tls'",
    "import { Socket } from 'node:net'",
    "import { lookup } from 'node:dns/promises'",
    "import { Agent } from 'undici'",
    "export { request } from 'node:http'",
    "const { request } = await import('node:http')",
    "const net = require('net')",
    "const net = process.getBuiltinModule('net')",
    "const http = createRequire(import.meta.url)('node:http')",
    "process.binding('tcp_wrap')",
  ])('under any name: %s', (text) => {
    expect(usesIn(text)).toBeGreaterThan(0)
    expect(usesIn(text, 'functions/net/x.ts')).toBe(0)
  })

  test.each([
    "import type { Server } from 'node:http'",
    "import { createServer, type Server } from 'node:http'",
    "import { isIP } from 'node:net'",
    'client.fetch(url)',
    'const send = ({ fetch }: Client) => fetch(url)',
    'const { fetch } = client; fetch(url)',
    'interface Client { fetch?: typeof fetch }',
    'const app = { async fetch(request) {}, self: 1 }',
    'globalThis.crypto',
  ])('and what opens none is let through: %s', (text) => {
    expect(usesIn(text)).toBe(0)
  })

  test('pages and the client may fetch, but not by another way', () => {
    for (const path of [
      'src/components/try.ts',
      'packages/client/src/a.ts',
      'functions/commands/health.ts',
    ]) {
      expect(usesIn('await fetch(url)', path)).toBe(0)
      expect(usesIn("import { request } from 'node:http'", path)).toBe(1)
    }
  })
})
