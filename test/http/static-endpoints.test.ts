import { hash } from 'node:crypto'
import * as v from 'valibot'
import { describe, expect, test } from 'vitest'
import {
  PAGE_TEMPLATES,
  SourcesSchema,
  StatsSchema,
} from '../../src/domain/views/reference-views.ts'
import { PROTOCOL_ENDPOINTS, ROUTES } from '../../src/domain/wire/routes.ts'
import { serveFixture } from '../support/running-service.ts'

const waypost = serveFixture()

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(waypost.url + path, { headers, redirect: 'manual' })
const getJson = async (path: string) => (await get(path)).json()

describe('every route and protocol that is read', () => {
  /** What stands for the parameters of a path. */
  const PARAMETERS: Record<string, string> = {
    ':listing_id': 'x402.weather',
    ':task_id': 'web_search',
    ':slug': 'weather-and-tides',
    ':category': 'developer_tools',
    ':urn': 'urn:air:waypost.example:mcp_server:mcp.harbour',
    ':name': 'example.waypost%2Fharbour',
    ':version': 'latest',
    ':policy': 'trusted',
  }
  /** What live ones need, and what they say instead of 200. */
  const LIVE: Record<string, { query?: string; status?: number }> = {
    operations: { query: '?q=weather' },
    plan: { query: '?query=tides' },
    call: { query: '?relay_info' },
    go: { status: 302 },
    lint: { status: 400 },
    // The fixture has no policies, no payments and no receipts.
    receipt_day: { status: 404 },
    policy_servers: { status: 404 },
    policy_versions: { status: 404 },
    policy_version: { status: 404 },
  }
  const EMPTY = ['trust_payments']
  const rows = Object.entries({ ...ROUTES, ...PROTOCOL_ENDPOINTS })
    .filter(([, { answer, methods }]) => answer !== 'stub' && methods.some((m) => m === 'GET'))
    .filter(([, route]) => !('needs' in route))

  test.each(rows)('%s answers 200 with a body', async (id, { path }) => {
    const { query = '', status = 200 } = LIVE[id] ?? {}
    const filled = path.replace(/:[a-z_]+/g, (name) => PARAMETERS[name] ?? `${name} in PARAMETERS`)
    const response = await get(`${filled}${query}`)
    const body = await response.text()
    expect([filled, response.status]).toEqual([filled, status])
    if (status === 200 && !EMPTY.includes(id)) expect(body.trim()).not.toBe('')
  })
})

describe('counts', () => {
  const SAMPLES: Record<string, string> = {
    '/listing/*': 'x402.weather',
    '/badge/*.svg': 'x402.weather',
    '/badge/*.json': 'x402.weather',
    '/compare/*': 'weather-and-tides',
    '/kind/*': 'http_api',
    '/category/*': 'developer_tools',
    '/problems/*': 'not-found',
  }
  test.each(PAGE_TEMPLATES)('of the roadmap may name the page %s: it answers', async (template) => {
    const path = template.replace('*', SAMPLES[template] ?? '')
    const { status } = await fetch(waypost.url + path)
    expect([path, status]).toEqual([path, 200])
  })
})

test('the OpenAPI document has a second address, with the same bytes', async () => {
  const [root, versioned] = await Promise.all(
    ['/openapi.json', '/api/v1/openapi.json'].map(async (path) => (await get(path)).text()),
  )
  expect(versioned).toBe(root)
  const { paths } = JSON.parse(root ?? '')
  expect(Object.keys(paths['/api/v1/stats'].get.responses)).toContain('414')
  expect((await get(`/api/v1/stats?${'x'.repeat(9000)}`)).status).toBe(414)
})

test('sources fit their published schema where the directory itself is on plain http', () => {
  const own = { id: 'own', name: 'Own', url: 'http://localhost:4321', license: 'MIT' }
  const row = { ...own, attribution: '', decision: 'used', reason: 'Ours.', listings: 1 }
  expect(v.safeParse(SourcesSchema, { sources: [row] }).issues).toBeUndefined()
})

test('the payments behind the scores are files whose SHA-256 is in the stats', async () => {
  const { trust_ledger: facts } = v.parse(StatsSchema, await getJson('/api/v1/stats'))
  for (const { url, bytes, sha256 } of [facts.ndjson, facts.gz, facts.payees]) {
    const answer = await fetch(`${waypost.url}${url}`, {
      headers: { 'accept-encoding': 'identity' },
    })
    const body = Buffer.from(await answer.arrayBuffer())
    expect([answer.status, body.length, hash('sha256', body)]).toEqual([200, bytes, sha256])
  }
  expect(await getJson(facts.payees.url)).toMatchObject({ as_of: null, payees: [] })
})
