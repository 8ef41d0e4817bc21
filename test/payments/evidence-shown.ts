import { expect, test } from 'vitest'
import { ORDERS } from './evidence-sellers.ts'
import type { World } from './world.ts'

/** In a page's head, beside the host. */
const EARNED = /(?:127\.0\.0\.\d+|localhost)(?::\d+)? (?:Domain verified )?Live-Tested /

export interface Watched {
  world: World
  /** Lets the fickle seller ask another price, to another wallet. */
  changeTerms(): void
}

/** Hours before now at which everybody is asked too: three days in all. */
const EARLIER = [48, 24]

/** Who was asked for what, and what came of it. */
const EXPECTED = {
  'a2a.old-planner': ['a2a', 'spoke', 'a valid card of Planner, protocol 0.3, 1 skill'],
  'a2a.planner': ['a2a', 'spoke', 'a valid card of Planner, protocol 1.0, 1 skill'],
  'api.berths': ['http', 'spoke', 'status 200, application/json'],
  'api.gone': ['http', 'dead', 'the connection was refused (ECONNREFUSED)'],
  'mcp.current': ['mcp', 'spoke', 'MCP 2026-07-28, harbour, 1 tool'],
  'mcp.endless': ['mcp', 'wrong_protocol', expect.any(String)],
  'mcp.former': ['mcp', 'spoke', 'MCP 2025-11-25, harbour, 2 tools'],
  'mcp.hostile': ['mcp', 'spoke', 'MCP 2026-07-28, harbour, 1 tool'],
  'x402.direct': ['x402', 'spoke', '402 with 1 offer: $0.001 on eip155:84532'],
  'x402.fickle': ['x402', 'spoke', '402 with 1 offer: $0.005 on eip155:84532'],
  'x402.forger': ['x402', 'spoke', '402 with 1 offer: $0.001 on eip155:84532'],
  'x402.known': ['x402', 'spoke', '402 with 1 offer: $4.5 on eip155:84532'],
  'x402.mpp': ['x402', 'spoke', expect.stringContaining('402 with 2 offers: $0.003')],
  'x402.v1': ['x402', 'spoke', '402 with 1 offer: $0.002 on eip155:84532'],
  'x402.v2': ['x402', 'spoke', '402 with 1 offer: $0.001 on eip155:84532'],
}
const SPEAKING = Object.entries(EXPECTED).flatMap(([id, [, outcome]]) =>
  outcome === 'spoke' ? [id] : [],
)

export function testProbing(watched: () => Watched): void {
  test('npm run probe, on three days: each is asked in its own protocol', async () => {
    const { world, changeTerms } = watched()
    for (const hoursAgo of EARLIER) await world.run('probe', ['--json'], hoursAgo)
    changeTerms()
    const lines = (await world.run('probe', ['--json']))
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    const heard = lines.flatMap(({ id, protocol, outcome, saw }) =>
      id === undefined ? [] : [[id, [protocol, outcome, saw]]],
    )
    expect(Object.fromEntries(heard)).toEqual(EXPECTED)
    expect(lines.at(-1).summary).toMatchObject({ probed: 15, held_back: 0, is_offline: false })
    for (const id of Object.keys(EXPECTED))
      expect([id, world.readEvidence(id).probes?.length]).toEqual([id, 3])
  })

  test('names of tools and skills wait for a person, hostile ones as plain text', async () => {
    const printed = await watched().world.run('review', ['list', '--from', 'tags', '--json'])
    const { items } = JSON.parse(printed)
    const notes = Object.fromEntries(
      items.map((item: { listing: string; note: string }) => [item.listing, item.note]),
    )
    expect(Object.keys(notes).sort()).toEqual([
      'a2a.old-planner',
      'a2a.planner',
      'mcp.current',
      'mcp.former',
      'mcp.hostile',
    ])
    expect(notes['mcp.former']).toContain('sink ship')
    expect(printed).not.toContain('onerror')
  })
}

/** What the next build prints of it. */
export function testPages(watched: () => Watched): void {
  const read = async (path: string) => {
    const answer = await fetch(`${watched().world.url}${path}`)
    expect([path, answer.status]).toEqual([path, 200])
    return answer.text()
  }
  const readJson = async (path: string) => JSON.parse(await read(path))
  const listing = (id: string) => readJson(`/api/v1/listings/${id}`)
  const kit = (id: string) => readJson(`/api/v1/listings/${id}/kit.json`)
  const page = async (id: string) => toText(await read(`/listing/${id}`))

  test('whoever spoke on three days is Live-Tested: page, JSON and badge say so', async () => {
    for (const id of SPEAKING) {
      const { badges, tiers, signals } = await listing(id)
      expect([id, badges, tiers.earned]).toEqual([
        id,
        expect.arrayContaining(['live_tested']),
        expect.arrayContaining(['live_tested']),
      ])
      expect(signals).toMatchObject({ service_verified_status: 'online', uptime_30d: 100 })
      const text = await page(id)
      expect(text).toMatch(EARNED)
      expect(text).toContain(`Uptime, 30 days 100 % 95 % answered within ${signals.p95_ms} ms`)
      expect(text).toMatch(/Probes by day over 30 days: [23] good, 0 partly, 0 failed/)
    }
    expect(await readJson('/badge/mcp.current.json')).toMatchObject({ message: 'Live-Tested' })
    expect(await read('/badge/mcp.current.svg')).toContain('Live-Tested')
  })

  test('who is gone, and who speaks something else, is neither', async () => {
    for (const [id, words] of [
      ['api.gone', 'HTTP Did not answer'],
      ['mcp.endless', 'MCP Spoke something else'],
    ] as const) {
      const { badges, signals } = await listing(id)
      expect(badges).not.toContain('live_tested')
      expect(signals).toMatchObject({ service_verified_status: 'offline', uptime_30d: 0 })
      const text = await page(id)
      expect(text).toContain(words)
      expect(text).toContain('no good answer to our probe of')
      expect(text).toMatch(/Probes by day over 30 days: 0 good, 0 partly, [23] failed/)
      expect(text).not.toMatch(EARNED)
    }
  })

  test('tools with their parameters, skills and operations with prices, on pages and in kits', async () => {
    expect((await listing('mcp.current')).tools).toMatchObject([
      { name: 'find_ship', title: 'Find a ship' },
    ])
    expect(await page('mcp.current')).toContain(
      'Tools 1 find_ship By name or IMO number. reads name required string Name of the ship',
    )
    expect((await kit('mcp.current')).tools).toMatchObject([
      { name: 'find_ship', read_only: true, input_schema: { required: ['name'] } },
    ])
    expect(await page('mcp.former')).toContain('sink_ship')
    for (const id of ['a2a.planner', 'a2a.old-planner']) {
      expect(await page(id)).toContain('Skills 1 Plan a trip By rail. Example Ghent')
      expect((await kit(id)).skills).toMatchObject([{ id: 'plan' }])
    }
    expect(await page('x402.mpp')).toMatch(/Operations 1 GET \/paid (?:reads )?(?:asked )?\$0\.003/)
    const { operations } = await kit('x402.mpp')
    expect(operations).toMatchObject([{ method: 'GET', price: { min_usd: 0.003, max_usd: 0.003 } }])
  })

  test('the last handshakes stand in a table', async () => {
    const text = await page('x402.fickle')
    expect(text).toMatch(
      /When, UTC Asked for Outcome ms What came \S+ \S+ x402 Spoke \d+ 402 with 1 offer: \$0\.005/,
    )
    expect(text.match(/402 with 1 offer: \$0\.001 on eip155:84532/g)).toHaveLength(2)
  })

  test('another price and another payout are noticed, from and to', async () => {
    const { notices } = await listing('x402.fickle')
    expect(notices).toMatchObject([
      {
        id: 'payout_changed',
        note: expect.stringMatching(/^The payee of GET \S+ was \S+1a1a and is \S+2b2b\.$/),
      },
      { note: expect.stringMatching(/^The price of GET \S+ was \$0\.001 and is \$0\.005\.$/) },
    ])
    const text = await page('x402.fickle')
    expect(text).toContain('Another price. The price of GET')
    expect(text).toContain('Another payout. The payee of GET')
    const { changes } = await readJson('/api/v1/changes')
    expect(changes).toContainEqual(
      expect.objectContaining({
        id: 'x402.fickle',
        change: 'changed',
        fields: ['badges', 'digest', 'drift', 'known', 'notices', 'operations', 'signals', 'tiers'],
      }),
    )
  })

  test('what a hostile server says is text that does nothing', async () => {
    const html = await read('/listing/mcp.hostile')
    expect(html).not.toContain('<img src=x')
    expect(html).toContain('&lt;img src=x onerror=alert(1)&gt;')
    const inert = ORDERS.replace(/\p{C}+/gu, '')
    for (const path of ['', '/kit.json']) {
      const json = await read(`/api/v1/listings/mcp.hostile${path}`)
      expect(json).toContain(inert)
      expect(json).not.toMatch(/\u202e|\\u202e|\\u0007/)
    }
  })

  test('a payment straight to a proven payout: a score, and that nobody could vouch for its buyers', async () => {
    const { trust, badges, tiers } = await listing('x402.direct')
    expect(trust).toMatchObject({
      score: 5,
      sample: 'low',
      raw: { payers: 2, settlements: 5, volume_usd: 0.005 },
      watch: [{ id: 'independence_unmeasured' }],
    })
    expect(trust).not.toHaveProperty('cost_to_fake_usd')
    expect(badges).toEqual(['domain_verified', 'live_tested'])
    expect(tiers.tier).toBe('verified')
    const text = await page('x402.direct')
    expect(text).toContain('Trust 5 of 100 2 buyers in the 30 days to ')
    expect(text).toContain(
      'Verified buyers 2 of 2 payers Settlements 5 of 5 Volume $0.005 of $0.005',
    )
    expect(text).toContain('invented ones, which cost under a cent')
    expect(text).toMatch(/Why 5 2 buyers \+14\.3 5 settlements \+6\.5 \$0\.005 volume/)
    expect(await readJson('/badge/x402.direct.json')).toMatchObject({
      message: 'Verified · trust 5, 2 unvouched buyers',
    })
    expect(await read('/badge/x402.direct.svg')).toContain('trust 5')
  })

  test('what cheating costs is on the page of the method', async () => {
    const { cost_of_cheating } = await readJson('/api/v1/trust/method')
    const text = toText(await read('/trust'))
    for (const sentence of cost_of_cheating.sentences) expect(text).toContain(sentence)
  })
}

/** What a reader reads: names of drawings among it, code and styles not. */
function toText(html: string): string {
  const entities = { lt: '<', gt: '>', amp: '&', quot: '"', '#39': "'" }
  return html
    .replace(/<(script|style)[^>]*>.*?<\/\1>/gs, '')
    .replace(/<[^>]*?aria-label="([^"]*)"[^>]*>/g, ' $1 ')
    .replace(/<[^>]+>/g, ' ')
    .replace(/&(lt|gt|amp|quot|#39);/g, (_, name: keyof typeof entities) => entities[name])
    .replace(/\s+/g, ' ')
}
