import { existsSync } from 'node:fs'
import * as v from 'valibot'
import { afterAll, describe, expect, test } from 'vitest'
import { addressOf } from '../../functions/probes/schedule.ts'
import { toListingMarkdown } from '../../functions/protocols/protocols.ts'
import { toLockEntry } from '../../packages/client/cli/pins.ts'
import { mapServer } from '../../seeds/sources/mcp-registry.ts'
import { readContent } from '../../src/content/read.ts'
import { createCatalogue } from '../../src/derive/catalogue.ts'
import { toKitView } from '../../src/domain/kit/kit-view.ts'
import { createInvokeSchema } from '../../src/domain/listing/invoke.ts'
import { planProbe } from '../../src/domain/probe/plan.ts'
import { toServerCard } from '../../src/domain/protocols/cards.ts'
import { toRegistryRows } from '../../src/domain/protocols/registry-entry.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { toListingView } from '../../src/domain/views/listing-view.ts'
import { findFaults, PUBLIC, toListing, VIEW_CONTEXT } from '../domain/listing-samples.ts'
import { SITE_TEXTS } from '../domain/site-samples.ts'
import { ServerResponse } from '../protocols/registry-shape.ts'
import { readJsonLines } from '../support/json-lines.ts'
import { createContentFixture } from './content-fixture.ts'
import { mapRow, official, parseRow, RULES, WEATHER } from './map-row.ts'

interface Case {
  case: string
  server: { name: string; remotes: object[] }
  variables?: object[]
  /** As pasted. */
  url?: string
  /** Where a probe asks. */
  requested?: string | null
  page?: string
  refused?: string
}
const CASES = readJsonLines<Case>('test/fixtures/published/server-json-variables.ndjson')

function listed(server: object, meta: object = {}) {
  const mapped = mapRow({ server, _meta: official(meta) })
  if (mapped.refusal !== undefined) throw new Error(mapped.refusal.detail)
  const { sources: _, ...facts } = mapped.seed.facts
  return toListing({ id: 'mcp.templates', facts: { ...facts, pricing: undefined } })
}

function viewsOf(server: object) {
  const listing = listed(server)
  const view = toListingView(listing, VIEW_CONTEXT)
  const kit = toKitView(listing, { baseUrl: VIEW_CONTEXT.baseUrl, trust: view.trust })
  return { listing, view, kit }
}

describe('a server whose address has parts of its caller', () => {
  test.each(CASES.filter(({ refused }) => refused === undefined))(
    'is listed, with a setting for each: $case',
    ({ server, variables, url = '', requested, page }) => {
      const { listing, view, kit } = viewsOf(server)
      const [entry] = listing.facts.invoke
      expect(entry).toMatchObject({ url: (server.remotes[0] as { url: string }).url, variables })
      if (page !== undefined) expect(listing.facts.url).toBe(page)

      expect(kit.invoke[0]).toMatchObject({ url })
      expect(kit.snippets.claude_code).toContain(url)
      expect(JSON.stringify([view, kit])).not.toContain('s3cr3t')
      const plan = planProbe(listing.id, listing.facts)
      expect(plan && addressOf(plan.handshake)).toBe(requested)
      const markdown = toListingMarkdown(view, kit, {
        baseUrl: VIEW_CONTEXT.baseUrl,
        switches: SITE_TEXTS.switches,
      })
      expect(markdown).toContain('part of the address')
      expect(toLockEntry(kit).hosts.every((host) => /^[\w.-]+$/.test(host))).toBe(true)
      expect(toLockEntry(kit).digest).toBe(listing.digest)
    },
  )

  test.each([
    ['https://{host}/mcp', 'host'],
    ['{base_url}/mcp', 'base_url'],
  ])('is no documentation placeholder where its caller names the whole host: %s', (url, name) => {
    const server = { name: 'io.github.pier/mcp', description: 'Piers of your own harbour.' }
    const remotes = [{ type: 'streamable-http', url, variables: { [name]: { isRequired: true } } }]
    const rules = { ...RULES, allowPlaceholders: false }
    expect(mapServer(parseRow({ server: { ...server, remotes } }), rules)).toMatchObject({
      seed: { facts: { invoke: [{ url }] } },
    })
  })

  test.each(CASES.filter(({ refused }) => refused !== undefined))(
    'is refused: $case',
    ({ server, refused }) => {
      expect(mapRow({ server })).toMatchObject({ refusal: { reason: refused } })
    },
  )

  test.each(CASES.filter(({ refused }) => refused === undefined))(
    'goes back to the registry’s shape as it came: $case',
    ({ server }) => {
      const { listing, view } = viewsOf(server)
      const [row] = toRegistryRows([listing], [], { baseUrl: VIEW_CONTEXT.baseUrl, policies: [] })
      const entry = v.parse(ServerResponse, row?.entry)
      expect(listed(entry.server).facts.invoke).toEqual(listing.facts.invoke)
      const card = toServerCard(view, VIEW_CONTEXT.baseUrl)
      expect(card?.remotes[0]).toHaveProperty('variables')
    },
  )

  test.each([
    ['{region}', { url: 'https://{region}.reef.example/mcp' }],
    ['{region}', { url: 'https://reef.example/mcp', variables: [{ name: 'region' }] }],
  ])(
    'in a written file has a variable for each part, and a part for each: %s %j',
    (part, entry) => {
      const remote = { kind: 'mcp', transport: 'sse', ...entry }
      expect(findFaults(createInvokeSchema(PUBLIC), remote)).toEqual([
        expect.stringContaining(part),
      ])
    },
  )

  const FIELD = '../shared/data/field/server-json-variables.ndjson'
  if (!existsSync(FIELD)) console.warn(`skipped: ${FIELD} is not here`)
  test.skipIf(!existsSync(FIELD))('of the recorded reports is listed', () => {
    const read = readJsonLines<{ server: { remotes: { variables: object }[] } }>(FIELD)
    for (const { server } of read) {
      const [remote] = listed({ ...server, description: 'Tide tables.' }).facts.invoke
      const names = Object.keys(server.remotes[0]?.variables ?? {})
      expect(remote).toMatchObject({ variables: names.map((name) => ({ name })) })
    }
  })
})

describe('a server that its registry advises against', () => {
  const content = createContentFixture()
  afterAll(() => content.cleanUp())

  test('stays listed, with the sentence of its registry as a notice, and goes back as deprecated', async () => {
    const row = {
      server: { ...WEATHER, name: 'dev.harbour/lamps', title: 'Lamps' },
      _meta: official({
        status: 'deprecated',
        statusMessage: 'Use dev.harbour/lamps-2.',
        statusChangedAt: '2026-11-02T08:00:00.123Z',
      }),
    }
    await content.seed({ from: content.save([row]) })
    await content.accept()
    const read = readContent(content.contentDir, PUBLIC)
    if (read.content === null) throw new Error('the content has faults')
    const baseUrl = 'https://waypost.example'
    const context = { baseUrl, rules: PUBLIC, asOf: '2026-11-20', ledger: NO_LEDGER_FACTS }
    const [listing] = createCatalogue(read.content, context).listings
    expect(listing?.notices).toEqual([
      {
        id: 'deprecated',
        note: 'mcp-registry says that it is deprecated: Use dev.harbour/lamps-2.',
        at: '2026-11-02T08:00:00Z',
      },
    ])
    const [served] = toRegistryRows(listing ? [listing] : [], [], { baseUrl, policies: [] })
    expect(v.parse(ServerResponse, served?.entry)._meta).toMatchObject({
      'io.modelcontextprotocol.registry/official': {
        status: 'deprecated',
        statusMessage: expect.stringContaining('Use dev.harbour/lamps-2.'),
        statusChangedAt: '2026-11-02T08:00:00Z',
      },
    })
  })
})
