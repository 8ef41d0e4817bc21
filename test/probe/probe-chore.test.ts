import { afterAll, beforeAll, expect, test } from 'vitest'
import { probeAsChore } from '../../functions/operations/chores.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { createResolver } from '../../functions/ports/resolver.ts'
import { readProbeEvidence } from '../../functions/probe/probe-content.ts'
import { takeLease } from '../../functions/store/lease.ts'
import type { Store } from '../../functions/store/schema/store.ts'
import { readContent } from '../../src/compile/content/read-content.ts'
import { createCatalogue } from '../../src/compile/derive/catalogue.ts'
import { toCompiledListings } from '../../src/compile/pages/write-compiled.ts'
import { planProbe } from '../../src/domain/probe/keep/plan-probe.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'
import { describeStores, silentLog } from '../support/stores.ts'
import { type McpSite, startCurrent } from './mcp-sites.ts'
import { type Site, startSite } from './probe-world.ts'

const BASE = 'http://localhost:4321'
const RULES = { allowPrivate: true }
const NAMED = `0x${'ab'.repeat(20)}`
const offer = {
  scheme: 'exact',
  network: 'eip155:8453',
  amount: '90000',
  asset: '0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913',
  payTo: NAMED,
}
const TERMS = Buffer.from(JSON.stringify({ x402Version: 2, accepts: [offer] })).toString('base64')

describeStores('a server that probes', ({ newStore }) => {
  let store: Store
  let seller: Site
  let tools: McpSite
  let folder: ContentFolder
  let asked = 0
  beforeAll(async () => {
    store = await newStore()
    seller = await startSite((_req, res) => {
      asked += 1
      res.writeHead(402, { 'payment-required': TERMS }).end('{}')
    })
    tools = await startCurrent('stateless')
    folder = createContentFolder({
      'listings/x402/shop.md': listingText({
        url: `${seller.url}/buy`,
        payout: `["eip155:8453:0x${'cd'.repeat(20)}"]`,
      }),
      'listings/mcp/tools.md': listingText({
        kind: 'mcp_server',
        url: tools.url,
        pricing: '{ model: unknown }',
        http: '[]',
        invoke: `[{ kind: mcp, transport: streamable-http, url: "${tools.url}/mcp" }]`,
      }),
    })
  })
  afterAll(async () => {
    folder.remove()
    await Promise.all([seller.close(), tools.close()])
  })

  const content = () => {
    const { content: read, faults } = readContent(folder.dir, RULES)
    if (read === null) throw new Error(JSON.stringify(faults))
    return read
  }
  const chore = (now: number, signal = new AbortController().signal) =>
    probeAsChore(
      {
        config: parseConfig({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true', BASE_URL: BASE }),
        resolver: createResolver(undefined),
        clock: { now: () => now },
        log: silentLog,
        ledger: { store },
        plans: async () =>
          content().listings.flatMap(({ id, facts }) => planProbe(id, facts) ?? []),
      },
      signal,
    )
  const build = async () => {
    const ledger = { ...NO_LEDGER_FACTS, probed: await readProbeEvidence(store) }
    const catalogue = createCatalogue(content(), { baseUrl: BASE, rules: RULES, ledger })
    return new Map([...toCompiledListings(catalogue)].map((each) => [each.view.id, each]))
  }
  const DAY = 86_400_000
  const START = Date.UTC(2026, 9, 1)

  test('waits while another instance does; one that has the state takes the lease of the dead', async () => {
    const other = await takeLease(store, { name: 'probe', holder: 'other' }, START)
    await chore(START)
    expect(asked).toBe(store.dialect === 'postgres' ? 0 : 1)
    await other?.release()
    await store.db.deleteFrom('probe_evidence').execute()
    asked = 0
  })

  test('shows what it saw in the next build: handshakes, tools, drift, and the badge', async () => {
    expect((await build()).get('x402.shop')?.handshakes).toBeNull()
    for (const hours of [0, 25, 50]) await chore(START + hours * 3_600_000)
    expect(asked).toBe(3)
    const pages = await build()
    const shop = pages.get('x402.shop')
    expect(shop?.handshakes?.recent).toMatchObject([
      { protocol: 'x402', outcome: 'spoke' },
      { outcome: 'spoke' },
      { outcome: 'spoke' },
    ])
    expect(shop?.handshakes?.days.reduce((sum, { up }) => sum + up, 0)).toBe(3)
    expect(shop?.view.badges).toContain('live_tested')
    expect(shop?.view.signals).toMatchObject({ service_verified_status: 'online' })
    expect(shop?.view.notices.map(({ id }) => id).sort()).toEqual([
      'payout_changed',
      'price_changed',
    ])
    const served = pages.get('mcp.tools')
    expect(served?.view.tools?.length).toBeGreaterThan(0)
    expect(JSON.stringify(served?.kit)).toContain(served?.view.tools?.[0]?.name ?? 'no tool')
  })

  test('asks nobody twice within a day, and stops when the server does', async () => {
    const before = asked
    await chore(START + 2 * DAY + 3 * 3_600_000)
    expect(asked).toBe(before)
    await chore(START + 9 * DAY, AbortSignal.abort())
    expect(asked).toBe(before)
  })
})
