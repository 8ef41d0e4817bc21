import { execFileSync } from 'node:child_process'
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSearch } from '../../functions/search/search.ts'
import { toSearchDocument } from '../../src/build/indexes.ts'
import type { KitOperation } from '../../src/domain/kit/kit-operations.ts'
import { chooseOperation } from '../../src/domain/kit/kit-operations.ts'
import { type KitView, toKitView } from '../../src/domain/kit/kit-view.ts'
import { toTrustView } from '../../src/domain/views/trust-view.ts'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { loadSearchIndex } from '../../src/search/index/load-index.ts'
import { BASE_URL as baseUrl, catalogue, content } from '../support/own-catalogue.ts'
import { ANSWERED, type DocumentedSellers, openDocumentedSellers } from './documented-sellers.ts'
import { fillIn, type ReportedRequest, sendReported } from './filled-requests.ts'

/**
 * Can a program that reads only search and kit.json do a task? It takes the first result and sends
 * the kit's request, filled in with what its user said, to a double of the seller.
 */
const { listings } = catalogue
const { categories, sources, searchWords, foreignWords: foreign, tasks } = content.tables
const index = loadSearchIndex(
  buildSearchIndex(
    listings.map((listing) => toSearchDocument(listing, catalogue)),
    {
      categories: categories.map(({ id }) => id),
      sources: sources.map(({ id }) => id),
      words: { ...searchWords, foreign, tasks },
    },
  ),
)
const texts = {
  featured: [],
  featured_label: '',
  sponsored_policy: '',
  also_search: [],
  ranking: '',
  attribution: [],
}
const search = createSearch({
  index: () => index,
  texts: () => texts,
  randomUuid: () => '00000000-0000-4000-8000-000000000000',
})

let sellers: DocumentedSellers
const folder = mkdtempSync(join(tmpdir(), 'waypost-tasks-'))
beforeAll(async () => {
  sellers = await openDocumentedSellers()
})
afterAll(() => {
  sellers.close()
  rmSync(folder, { recursive: true })
})

function firstKit(requested: Record<string, string>): KitView {
  const reply = search(new URLSearchParams(requested).toString())
  if (reply.status !== 200) throw new Error(JSON.stringify(reply.problems))
  const { results } = JSON.parse(new TextDecoder().decode(reply.body))
  const listing = listings.find(({ id }) => id === results[0]?.id)
  if (listing === undefined) throw new Error(`nothing found for ${requested.q}`)
  return toKitView(listing, { baseUrl, trust: toTrustView(listing.trust, '') })
}

function operationOf(kit: KitView): KitOperation {
  const operation = chooseOperation(kit.operations)
  if (operation === undefined) throw new Error(`${kit.id} has no operation`)
  return operation
}

const send = (request: ReportedRequest) => sendReported(sellers.port, request)

const TERMS = { status: 402, answer: { accepts: [] } }
const SERVED = { status: 200, answer: { stated: ANSWERED } }

describe('from words to the first right request', () => {
  test('search the web for less than a cent', async () => {
    const kit = firstKit({ q: 'search the web', max_price_usd: '0.0099' })
    const { example, offers = [] } = operationOf(kit)
    expect(offers.some(({ max_usd }) => max_usd < 0.01)).toBe(true)
    expect(await send(example)).toEqual(TERMS)
  })

  test.each([
    ['weather for a city', { kind: 'http_api', auth: 'none' }, SERVED],
    ['scrape a page to markdown', { kind: 'http_api' }, TERMS],
    ['send an email', { kind: 'http_api', auth: 'payment' }, TERMS],
    ['make an image', { kind: 'http_api' }, TERMS],
    ['company by domain', { kind: 'http_api' }, TERMS],
  ])('%s', async (q, filters, answer) => {
    const { example, assumed } = operationOf(firstKit({ q, ...filters }))
    // What goes out is certain.
    expect((assumed ?? []).filter((field) => field !== 'response')).toEqual([])
    expect(await send(example)).toEqual(answer)
  })

  test('the same where only sellers without accounts will do', async () => {
    for (const q of ['send an email', 'make an image', 'company by domain']) {
      const { example } = operationOf(firstKit({ q, paid_only: 'true' }))
      expect(await send(example)).toEqual(TERMS)
    }
  })

  test('a PostgreSQL MCP server to run locally starts with the address of the database', () => {
    const kit = firstKit({
      q: 'a PostgreSQL MCP server to run locally',
      kind: 'mcp_server',
      runs: 'local',
    })
    const config = JSON.parse(kit.snippets.claude_desktop ?? '')
    const [server] = Object.values<{ command: string; args: string[]; env: object }>(
      config.mcpServers,
    )
    expect(server?.env).toEqual({ DATABASE_URI: '<DATABASE_URI>' })
    // crystaldba/postgres-mcp: `uvx postgres-mcp`, an access mode, and DATABASE_URI.
    writeDouble(
      'uvx',
      `case "$*|$DATABASE_URI" in
        "postgres-mcp --access-mode=restricted|postgresql://"*) echo started ;;
        *) echo "$* is not how it starts" ;;
      esac`,
    )
    const env = JSON.parse(fillIn(JSON.stringify(server?.env)))
    const command = join(folder, server?.command ?? '')
    expect(execFileSync(command, server?.args, { env, encoding: 'utf8' })).toBe('started\n')
  })

  test('an A2A agent for travel is asked where its card says', async () => {
    const kit = firstKit({ q: 'an agent that plans travel', kind: 'a2a_agent', category: 'travel' })
    const card = await send({ method: 'GET', url: kit.discovery.agent_card ?? '' })
    expect(card).toMatchObject({ status: 200, answer: { protocolVersion: '0.3.0', url: kit.url } })
    const [, body = ''] = /--data-raw '(.*)' \S+$/m.exec(kit.snippets.curl ?? '') ?? []
    const message = {
      method: 'POST',
      url: card.answer.url ?? '',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.parse(body),
    }
    expect(await send(message)).toEqual(SERVED)
  })
})

describe('the doubles refuse', () => {
  const headers = { 'Content-Type': 'application/json' }
  const exa = { method: 'POST', url: 'https://api.exa.ai/search', headers }

  test.each([
    ['an empty body', { ...exa, body: {} }, 400],
    ['a member nobody documents', { ...exa, body: { query: 'tides', q: 'tides' } }, 400],
    ['a body of unsaid type', { ...exa, headers: {}, body: { query: 'tides' } }, 400],
    ['another method', { method: 'GET', url: exa.url }, 404],
    ['a missing parameter', { method: 'GET', url: 'https://api.open-meteo.com/v1/forecast' }, 400],
    [
      'a placeholder left as it stands',
      {
        ...exa,
        url: 'https://stableemail.dev/api/send',
        body: { to: ['<NOBODY_SAID>'], subject: 'a', text: 'b' },
      },
      400,
    ],
  ])('%s', async (_, request, status) => {
    expect((await send(request)).status).toBe(status)
  })
})

function writeDouble(name: string, script: string): void {
  writeFileSync(join(folder, name), `#!/bin/sh\n${script}\n`)
  chmodSync(join(folder, name), 0o755)
}
