import { afterAll, beforeAll, expect, test } from 'vitest'
import { createResolver } from '../../functions/net/resolver.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import {
  createEvidenceRows,
  probeAsChore,
  readProbeEvidence,
} from '../../functions/probes/schedule.ts'
import { createJobQueue, HOLD_MS } from '../../functions/store/jobs.ts'
import type { Store } from '../../functions/store/store.ts'
import { toCompiled } from '../../src/build/listing-files.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import { type ProbePlan, planProbe } from '../../src/domain/probe/plan.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { type ContentFolder, createContentFolder, listingText } from '../support/content-folder.ts'
import { startSite } from '../support/site.ts'
import { describeBothStores, describeStores, silentLog } from '../support/stores.ts'
import { type McpSite, startCurrent } from './mcp-sites.ts'
import { OFFER, planPaid, type Site, toTerms } from './probe-world.ts'

const BASE = 'http://localhost:4321'
const RULES = { allowPrivate: true }
const TERMS = toTerms([{ ...OFFER, amount: '90000' }])

describeStores('a server that probes', ({ newStore }) => {
  let store: Store
  let seller: Site
  let tools: McpSite
  let folder: ContentFolder
  let requested = 0
  const added: ProbePlan[] = []
  beforeAll(async () => {
    store = await newStore()
    seller = await startSite((_req, res) => {
      requested += 1
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
  afterAll(() => Promise.all([seller.close(), tools.close()]))

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
        plans: async () => [
          ...content().listings.flatMap(({ id, facts }) => planProbe(id, facts) ?? []),
          ...added,
        ],
      },
      signal,
    )
  const build = async () => {
    const ledger = { ...NO_LEDGER_FACTS, probed: await readProbeEvidence(store) }
    const catalogue = createCatalogue(content(), {
      baseUrl: BASE,
      rules: RULES,
      asOf: '2026-11-01',
      ledger,
    })
    return new Map(
      catalogue.listings.map((listing) => [
        listing.id,
        toCompiled(listing, catalogue, { key: '', similar: [] }),
      ]),
    )
  }
  const DAY = 86_400_000
  const START = Date.UTC(2026, 9, 1)

  test('leaves a host to the server that holds it; one that has the state takes over from the dead', async () => {
    const other = createJobQueue(store, { name: 'probe', now: () => START })
    const hosts = [seller.url, tools.url].map((url) => new URL(url).host)
    await other.add(hosts)
    expect((await other.take(9)).sort()).toEqual(hosts.sort())
    await chore(START)
    expect(requested).toBe(store.dialect === 'postgres' ? 0 : 1)
    await store.db.deleteFrom('probe_evidence').execute()
    await store.db.deleteFrom('job').execute()
    requested = 0
  })

  test('shows what it saw in the next build: probes, tools, drift, and the badge', async () => {
    expect((await build()).get('x402.shop')?.history.probes).toEqual([])
    for (const hours of [0, 25, 50]) await chore(START + hours * 3_600_000)
    expect(requested).toBe(3)
    const pages = await build()
    const shop = pages.get('x402.shop')
    expect(shop?.history.probes).toMatchObject([
      { protocol: 'x402', outcome: 'spoke' },
      { outcome: 'spoke' },
      { outcome: 'spoke' },
    ])
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
    const before = requested
    await chore(START + 2 * DAY + 3 * 3_600_000)
    expect(requested).toBe(before)
    // A new listing of a host that was asked today does not wait.
    added.push(planPaid('x402.later', `${seller.url}/later`))
    await chore(START + 2 * DAY + 4 * 3_600_000)
    expect(requested).toBe(before + 1)
    await chore(START + 9 * DAY, AbortSignal.abort())
    expect(requested).toBe(before + 1)
  })
})

describeBothStores('servers that probe beside each other', ({ newStore }) => {
  test('ask each listing once a day, a host one thing at a time, and finish what a killed one began', async () => {
    const store = await newStore()
    const inside = new Map<string, number>()
    const requested = new Map<string, number>()
    let together = 0
    const seller = await startSite(async (req, res) => {
      const { host = '' } = req.headers
      inside.set(host, (inside.get(host) ?? 0) + 1)
      together = Math.max(together, inside.get(host) ?? 0)
      requested.set(`${host}${req.url}`, (requested.get(`${host}${req.url}`) ?? 0) + 1)
      await new Promise((resolve) => setTimeout(resolve, 2))
      inside.set(host, (inside.get(host) ?? 0) - 1)
      res.writeHead(402, { 'payment-required': TERMS }).end('{}')
    })
    const { port } = new URL(seller.url)
    const hosts = Array.from({ length: 12 }, (_, n) => `shop-${n}.example:${port}`)
    const plans = hosts.flatMap((host, n) =>
      [0, 1, 2].map((m) => planPaid(`x402.shop-${n}-${m}`, `http://${host}/${m}`)),
    )
    const address = [{ address: '127.0.0.1', family: 4 as const }]
    const turn = (now: number) =>
      probeAsChore(
        {
          config: parseConfig({ UNSAFE_ALLOW_PRIVATE_TARGETS: 'true', BASE_URL: BASE }),
          resolver: { ...createResolver(undefined), addresses: async () => address },
          clock: { now: () => now },
          log: silentLog,
          ledger: { store },
          plans: async () => plans,
        },
        new AbortController().signal,
      )
    // With SQLite one server holds the state.
    const fleet = (now: number) =>
      Promise.all(Array.from({ length: store.dialect === 'postgres' ? 4 : 1 }, () => turn(now)))
    const start = Date.UTC(2026, 9, 1)
    const killed = createJobQueue(store, { name: 'probe', now: () => start })
    await killed.add(hosts)
    const held = await killed.take(2)
    const [cut] = plans.filter(({ id }) => id === 'x402.shop-0-0')
    const rows = createEvidenceRows(store, () => start, 86_400_000)
    expect(await rows.begin(cut?.id ?? '')).toBe(true)

    await fleet(start + 60_000)
    const free = store.dialect === 'postgres' ? hosts.length - held.length : hosts.length
    expect(requested.size).toBeGreaterThanOrEqual(free * 3 - 1)
    await fleet(start + HOLD_MS + 120_000)
    expect([...requested.values()].every((count) => count === 1)).toBe(true)
    expect(requested.size).toBe(plans.length - 1)
    await fleet(start + 86_400_000 + 2 * HOLD_MS)
    expect([...requested.values()].sort()).toEqual(
      plans.map(({ id }) => (id === cut?.id ? 1 : 2)).sort(),
    )
    expect(together).toBe(1)
    await seller.close()
  })
})
