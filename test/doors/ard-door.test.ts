import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type RunningService, startService } from '../support/running-service.ts'
import { findArdFaults } from './ard-schemas.ts'

const OWN = 'https://waypost.example/docs#'
const ARD = 'https://agenticresourcediscovery.org/ns#'
let running: RunningService
beforeAll(async () => {
  running = await startService()
})
afterAll(() => running.close())

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
const explore = (body: unknown) => post('/ard/explore', body)
const filtered = async (filter: object, context?: unknown) => {
  const query = { text: 'weather', filter, ...(context !== undefined && { '@context': context }) }
  const { status, json } = await ard({ query, pageSize: 100 })
  return status === 200
    ? json.results.map(({ identifier }: { identifier: string }) => identifier.split(':').at(-1))
    : json.message
}

describe('search', () => {
  test('finds what the search finds, in its order, with scores that fall', async () => {
    const { json } = await ard({ query: { text: 'weather' }, pageSize: 2 })
    const api = await (await read('/api/v1/search?q=weather&limit=2')).json()
    expect(
      json.results.map(({ identifier }: { identifier: string }) => identifier.split(':').at(-1)),
    ).toEqual(api.results.map(({ id }: { id: string }) => id))
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

describe('federation', () => {
  const PEERS = ['one', 'two'].map((name) => ({
    identifier: `urn:air:${name}.example:registry:main`,
    name,
    url: `https://${name}.example/ard`,
  }))
  const searchAs = async (more: object) => {
    const response = await fetch(`${running.url}/ard/search`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ query: { text: 'weather' }, ...more }),
    })
    return { federation: response.headers.get('ard-federation'), json: await response.json() }
  }

  test.each([
    [{}, 'referrals'],
    [{ federation: 'auto' }, 'referrals'],
    [{ federation: 'referrals' }, 'referrals'],
    [{ federation: 'none' }, 'none'],
  ])('%j is answered as %s; peers are named, and never asked', async (asked, answered) => {
    running.service.parts.release().peers = PEERS
    try {
      const { federation, json } = await searchAs(asked)
      expect(federation).toBe(answered)
      expect(json.referrals).toEqual(
        answered === 'none'
          ? undefined
          : PEERS.map(({ identifier, name, url }) => ({
              identifier,
              displayName: name,
              type: 'application/ai-registry+json',
              url: `${url}/search`,
            })),
      )
      expect(findArdFaults('found', json)).toEqual([])
      const sources = json.results.map(({ source }: { source: string }) => source)
      expect(new Set(sources)).toEqual(new Set(['https://waypost.example/ard']))
    } finally {
      running.service.parts.release().peers = []
    }
  })

  test('searches that hang up change nothing for those after them', async () => {
    running.service.parts.release().peers = PEERS
    try {
      const own = await searchAs({})
      for (let times = 0; times < 20; times += 1) {
        const hungUp = new AbortController()
        const asked = fetch(`${running.url}/ard/search`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ query: { text: 'weather' } }),
          signal: hungUp.signal,
        }).catch(() => null)
        hungUp.abort()
        await asked
      }
      expect(await searchAs({})).toEqual(own)
    } finally {
      running.service.parts.release().peers = []
    }
  })
})

describe('explore', () => {
  test('counts over all that the same search finds, not over a page', async () => {
    const query = { text: 'weather', filter: { kind: ['http_api', 'mcp_server'] } }
    const { json } = await explore({
      query,
      resultType: { facets: [{ field: 'kind' }, { field: 'publisher' }, { field: 'type' }] },
    })
    const { json: found } = await ard({ query, pageSize: 100 })
    const total = found.results.length
    const sum = (field: string) =>
      json.facets[field].buckets.reduce(
        (all: number, { count }: { count: number }) => all + count,
        0,
      )
    expect(json.facets.publisher.buckets).toEqual([{ value: 'waypost.example', count: total }])
    expect([sum('kind'), sum('type')]).toEqual([total, total])
    expect(json.resultType).toBe('facets')
  })

  test('without a question it counts every listing, within limit and minCount', async () => {
    const facetsOf = async (facet: object) =>
      (await explore({ resultType: { facets: [facet] } })).json.facets
    const { tags } = await facetsOf({ field: 'tags', limit: 100 })
    const { tags: two } = await facetsOf({ field: 'tags', limit: 2 })
    expect(two.buckets).toEqual(tags.buckets.slice(0, 2))
    const rest = tags.buckets.slice(2).map(({ count }: { count: number }) => count)
    expect(two.otherCount).toBe(tags.otherCount + rest.reduce((a: number, b: number) => a + b, 0))
    const { tags: often } = await facetsOf({ field: 'tags', limit: 100, minCount: 2 })
    expect(often.buckets).toEqual(tags.buckets.filter(({ count }: { count: number }) => count > 1))
    const own = await explore({
      query: { '@context': { w: OWN } },
      resultType: { facets: [{ field: 'w:kind' }, { field: 'metadata.region' }] },
    })
    expect(own.json.facets['w:kind'].buckets.length).toBeGreaterThan(1)
    expect(own.json.facets['metadata.region']).toEqual({ buckets: [], otherCount: 0 })
  })

  test.each([
    [{}, /resultType/],
    [{ resultType: { facets: [{ field: 'price' }] } }, /price: expected/],
    [{ resultType: { facets: [{ field: 'x:y' }] } }, /x:y: expected/],
    [{ resultType: { facets: Array(21).fill({ field: 'type' }) } }, /20 facets/],
    [{ resultType: { facets: [{ field: 'type', limit: 0 }] } }, /limit/],
  ])('%j is refused', async (body, expected) => {
    const { status, json } = await explore(body)
    expect([status, json]).toEqual([
      400,
      { errorCode: 'INVALID_ARGUMENT', message: expect.stringMatching(expected) },
    ])
  })
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
  const facets = [{ field: 'type' }, { field: 'tags' }]
  const explored = await explore({ resultType: { facets } })
  expect(findArdFaults('explored', explored.json)).toEqual([])
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
