import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createResolver } from '../../functions/ports/resolver.ts'
import { createAsker } from '../../functions/probe/ask.ts'
import { createEvidenceFiles } from '../../functions/probe/evidence-files.ts'
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

const plans = urls.map((url, at): ProbePlan => {
  const operation = { method: 'GET', url } as const
  const request = { ...operation, headers: {} }
  return {
    id: `x402.seller-${at}`,
    handshake: { kind: 'payment', request, operation, rails: ['x402'], is_guess: false },
    declared: { max_usd: 0.02, networks: [], payouts: [] },
  }
})

const dir = mkdtempSync(join(tmpdir(), 'waypost-probe-bench-'))
const resolver = createResolver(undefined)
const asker = createAsker({ resolver, allowPrivate: true, userAgent: 'Waypost-Probe/bench' })
for (const round of ['first', 'second']) {
  const started = performance.now()
  const { outcomes } = await probeContent({
    evidence: createEvidenceFiles(dir),
    plans,
    asker,
    resolver,
    staleMs: 0,
    limit: SELLERS,
    concurrency: 16,
    now: Date.now,
    onProbe: () => {},
  })
  print(`${round} run, evidence written, ${JSON.stringify(outcomes)}`, started)
}
const started = performance.now()
const rest = [...urls]
await Promise.all(
  Array.from({ length: AT_ONCE }, async () => {
    for (let url = rest.pop(); url !== undefined; url = rest.pop()) await (await fetch(url)).text()
  }),
)
print('fetch, nothing kept', started)
await asker.close()
rmSync(dir, { recursive: true, force: true })
for (const server of servers) server.close()

function print(name: string, from: number): void {
  const seconds = (performance.now() - from) / 1000
  console.log(`${name}: ${Math.round(SELLERS / seconds)} a second`)
}
