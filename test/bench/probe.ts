import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createEvidenceFiles } from '../../functions/commands/evidence/probe.ts'
import { createHttpClient } from '../../functions/net/http-client.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createResolver } from '../../functions/ports/resolver.ts'
import { probeContent } from '../../functions/probe/probe-content.ts'
import type { ProbePlan } from '../../src/domain/probe/keep/probe-plan.ts'

/**
 * Probes a second against servers on loopback, evidence written to disk, beside Node's own fetch
 * asking the same addresses as many at a time and keeping nothing.
 */
const SELLERS = 200
const AT_ONCE = 4

const offer = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '10000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: `0x${'ab'.repeat(20)}`,
}
const terms = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [offer] })).toString('base64')

const servers = await Promise.all(
  Array.from({ length: SELLERS }, async () => {
    const server = createServer((_req, res) =>
      res.writeHead(402, { 'payment-required': terms }).end('{}'),
    )
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    return server
  }),
)
const urls = servers.map((server) => {
  const { port } = server.address() as AddressInfo // listening on TCP: never a string or null
  return `http://127.0.0.1:${port}/paid`
})

/** Listings with this many other operations each. */
const plansWith = (count: number) => urls.map((url, at) => planFor(`x402.seller-${at}`, url, count))

function planFor(id: string, url: string, count: number): ProbePlan {
  const ask = (address: string) => {
    const operation = { method: 'GET', url: address } as const
    return { request: { ...operation, headers: {} }, operation, is_guess: false }
  }
  const others = Array.from({ length: count }, (_, n) => ask(`${url}/${n}`))
  return {
    id,
    handshake: {
      kind: 'payment',
      ...ask(url),
      rails: ['x402'],
      others: others.map((other) => ({ ...other, is_paid: true, expected: null })),
    },
    declared: {
      max_usd: 0.02,
      operations: others.map(({ operation }) => ({ ...operation, max_usd: 0.02 })),
      networks: [],
      payouts: [],
    },
  }
}

const dir = mkdtempSync(join(tmpdir(), 'waypost-probe-bench-'))
const resolver = createResolver(undefined)
const client = createHttpClient('probe', {
  config: parseConfig({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' }),
  resolver,
})
const OTHERS = 5
for (const [name, others] of [
  ['first run, one operation each', 0],
  ['second run, one operation each', 0],
  ['six operations each', OTHERS],
] as const) {
  const started = performance.now()
  const { outcomes } = await probeContent({
    evidence: createEvidenceFiles(dir),
    plans: plansWith(others),
    client,
    resolver,
    staleMs: 0,
    limit: SELLERS,
    concurrency: 16,
    now: Date.now,
    onProbe: () => {},
  })
  print(`${name}, evidence written, ${JSON.stringify(outcomes)}`, started, others + 1)
}
for (const [name, others] of [
  ['fetch, nothing kept', 0],
  ['fetch, six each, nothing kept', OTHERS],
] as const) {
  const started = performance.now()
  const rest = plansWith(others).map(requestsOf)
  await Promise.all(
    Array.from({ length: AT_ONCE }, async () => {
      for (let own = rest.pop(); own !== undefined; own = rest.pop())
        for (const url of own) await (await fetch(url)).text()
    }),
  )
  print(name, started, others + 1)
}
await client.close()
rmSync(dir, { recursive: true, force: true })
for (const server of servers) server.close()

function requestsOf({ handshake }: ProbePlan): string[] {
  if (handshake.kind !== 'payment') return []
  return [handshake.request, ...(handshake.others ?? []).map(({ request }) => request)].map(
    ({ url }) => url,
  )
}

function print(name: string, from: number, requests: number): void {
  const seconds = (performance.now() - from) / 1000
  const each = Math.round(SELLERS / seconds)
  console.log(`${name}: ${each} listings a second, ${each * requests} requests`)
}
