import { describe, expect, test } from 'vitest'
import { serveFixture } from '../support/running-service.ts'
import { findArdFaults } from './ard-schemas.ts'

const OWN = 'https://waypost.example/docs#'
const ARD = 'https://agenticresourcediscovery.org/ns#'
const running = serveFixture()

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${running.url}${path}`, { headers })

async function post(path: string, body: unknown) {
  const response = await fetch(`${running.url}${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, json: await response.json() }
}
const ard = (body: unknown) => post('/ard/search', body)
const filtered = async (filter: object, context?: unknown) => {
  const query = { text: 'weather', filter, ...(context !== undefined && { '@context': context }) }
  const { status, json } = await ard({ query, pageSize: 100 })
  return status === 200
    ? json.results.map(({ identifier }: { identifier: string }) => identifier.split(':').at(-1))
    : json.message
}

describe('search', () => {
  test('gives scores that fall, and leads from page to page', async () => {
    const { json } = await ard({ query: { text: 'weather' }, pageSize: 2 })
    expect(json.results[0].score).toBeGreaterThan(json.results[1].score)
    const next = await ard({ query: { text: 'weather' }, pageSize: 2, pageToken: json.pageToken })
    const elsewhere = await ard({ query: { text: 'tides' }, pageToken: json.pageToken })
    expect(elsewhere.json).toMatchObject({ errorCode: 'INVALID_ARGUMENT' })
    expect(next.json.results).toHaveLength(1)
    expect(next.json.pageToken).toBeUndefined()
  })

  test('no identifier claims a seller’s domain', async () => {
    const { json } = await ard({ query: { text: 'weather' } })
    for (const { identifier } of json.results)
      expect(identifier).toMatch(/^urn:air:waypost\.example:/)
  })

  test('a filter takes one value of several in a key, and all keys', async () => {
    const all = await filtered({})
    const some = await filtered({ kind: ['http_api', 'a2a_agent'], tag: 'weather' })
    expect(some.length).toBeGreaterThan(0)
    expect(some.length).toBeLessThan(all.length)
    expect(await filtered({ kind: [] })).toEqual([])
  })

  test('terms are matched by what their prefix is bound to, not by how they are written', async () => {
    const expected = await filtered({ kind: 'http_api' })
    expect(expected.length).toBeGreaterThan(0)
    for (const context of [
      { x: OWN },
      { x: { '@id': OWN } },
      ['https://else.example/', { x: OWN }],
    ])
      expect(await filtered({ 'x:kind': 'http_api' }, context)).toEqual(expected)
    expect(await filtered({ sort: 'http_api' }, { sort: `${OWN}kind` })).toEqual(expected)
    expect(await filtered({ [`${OWN}kind`]: 'http_api' })).toEqual(expected)
    expect(await filtered({ 'a:publisher': 'waypost.example' }, { a: ARD })).toEqual(
      await filtered({}),
    )
    // The same words in another namespace are another term, which no entry of ours has.
    expect(await filtered({ 'x:kind': 'http_api' }, { x: 'https://else.example/#' })).toEqual([])
    expect(await filtered({ kind: 'http_api' }, { kind: 'https://else.example/#kind' })).toEqual([])
    expect(await filtered({ 'trustManifest.attestations.type': ['SOC2-Type2'] })).toEqual([])
  })

  test.each([
    [{ 'okf:taxonomy': 'x' }, undefined],
    // A context that lies elsewhere is not fetched.
    [{ 'okf:taxonomy': 'x' }, 'https://context.example/v1'],
    [{ 'okf:taxonomy': 'x' }, { okf: 7 }],
    [{ price: '1' }, undefined],
  ])('%j with the context %j names what is bound to nothing', async (filter, context) => {
    const [key = ''] = Object.keys(filter)
    expect(await filtered(filter, context)).toMatch(new RegExp(`query\\.filter\\.${key}: expected`))
  })

  test.each([
    ['an unknown member', { query: { text: 'x' }, sort: 'price' }, /sort/],
    ['no query', {}, /query/],
    ['no text', { query: { filter: {} } }, /query\.text/],
    ['a filter of numbers', { query: { text: 'x', filter: { kind: 7 } } }, /filter\.kind/],
    ['another federation', { query: { text: 'x' }, federation: 'all' }, /federation/],
    ['a page of 101', { query: { text: 'x' }, pageSize: 101 }, /pageSize/],
    ['a token we never gave', { query: { text: 'x' }, pageToken: 'abc' }, /token/],
    ['a place of a page', { query: { text: 'x' }, pageToken: '10' }, /token/],
  ])('%s is named in its own form of error', async (_, body, expected) => {
    const { status, json } = await ard(body)
    expect(status).toBe(400)
    expect(json).toEqual({
      errorCode: 'INVALID_ARGUMENT',
      message: expect.stringMatching(expected),
    })
  })
})

test.each(['auto', 'referrals', 'none'])(
  'a search of the federation %s is answered from our own listings, and names nobody',
  async (federation) => {
    const own = await ard({ query: { text: 'weather' } })
    const { json } = await ard({ query: { text: 'weather' }, federation })
    expect(json).toEqual(own.json)
    expect(json).not.toHaveProperty('referrals')
    const sources = json.results.map(({ source }: { source: string }) => source)
    expect(new Set(sources)).toEqual(new Set(['https://waypost.example/ard']))
  },
)

test('explore, which is optional, answers 501 in the form of its errors', async () => {
  for (const body of [{}, { resultType: { facets: [{ field: 'type' }] } }, 7]) {
    const { status, json } = await post('/ard/explore', body)
    expect(status).toBe(501)
    expect(json).toEqual({
      errorCode: 'NOT_IMPLEMENTED',
      message: expect.stringContaining('/ard/search'),
    })
    expect(findArdFaults('error', json)).toEqual([])
  }
})

describe('an entry by its name', () => {
  test('is whole, without score and source', async () => {
    const { json } = await ard({ query: { text: 'weather' } })
    const { identifier } = json.results[0]
    const entry = await (await read(`/ard/agents/${encodeURIComponent(identifier)}`)).json()
    const { score: _, source: __, ...whole } = json.results[0]
    expect(entry).toEqual(whole)
  })

  test.each([
    ['urn:air:other.example:kit:x', 404, 'NOT_FOUND'],
    ['urn:air:waypost.example:a2a_agent:x402.weather', 404, 'NOT_FOUND'],
    ['urn:air:ard-conformance.invalid:probe:not-found', 404, 'NOT_FOUND'],
    ['not-a-valid-ard-urn', 400, 'INVALID_ARGUMENT'],
    ['%E0%A4%A', 400, 'INVALID_ARGUMENT'],
  ])('%s is %i', async (urn, status, errorCode) => {
    const response = await read(`/ard/agents/${urn}`)
    expect([response.status, await response.json()]).toEqual([
      status,
      { errorCode, message: expect.any(String) },
    ])
  })
})

test('all of it fits what ARD 0.91 says of its documents', async () => {
  const manifest = await (await read('/.well-known/ard.json')).json()
  expect(findArdFaults('manifest', manifest)).toEqual([])
  const { json: found } = await ard({ query: { text: '' }, pageSize: 100 })
  expect(found.results.length).toBeGreaterThan(3)
  expect(findArdFaults('found', found)).toEqual([])
  for (const { identifier } of found.results) {
    const entry = await (await read(`/ard/agents/${encodeURIComponent(identifier)}`)).json()
    expect(findArdFaults('entry', entry)).toEqual([])
  }
  expect(findArdFaults('error', (await ard({})).json)).toEqual([])
  expect(findArdFaults('entry', { ...manifest.entries[0], data: {} })).not.toEqual([])
})

test('it is found by robots.txt, by the link of a page, and by the manifest', async () => {
  const { entries } = await (await read('/.well-known/ard.json')).json()
  expect(entries).toContainEqual(
    expect.objectContaining({
      type: 'application/ai-registry+json',
      url: 'https://waypost.example/ard',
    }),
  )
  expect(await (await read('/robots.txt')).text()).toContain(
    '\n# Agentmap: https://waypost.example/.well-known/ard.json\n',
  )
  const page = await (await read('/', { accept: 'text/html' })).text()
  expect(page).toMatch(/<link rel="ard"[^>]* href="\/\.well-known\/ard\.json"/)
})

test('robots.txt has no line that an audit of robots does not know', async () => {
  const lines = (await (await read('/robots.txt')).text()).split('\n')
  const written = lines.map((line) => line.replace(/#.*/, '').trim()).filter((line) => line !== '')
  expect(written.length).toBeGreaterThan(4)
  for (const line of written) expect(line).toMatch(/^(?:user-agent|disallow|allow|sitemap): \S+$/i)
})

test('pages of other origins may ask', async () => {
  for (const [path, allow] of [
    ['/ard/search', 'POST, OPTIONS'],
    ['/ard/explore', 'POST, OPTIONS'],
    ['/ard/agents/x', 'GET, HEAD, OPTIONS'],
    ['/a2a', 'POST, OPTIONS'],
    ['/v0.1/servers', 'GET, HEAD, OPTIONS'],
  ] as const) {
    const response = await fetch(running.url + path, { method: 'OPTIONS' })
    expect([response.status, response.headers.get('allow')]).toEqual([204, allow])
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
    expect(response.headers.get('access-control-allow-headers')).toBe('*')
  }
})
