import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { prefersMarkdown } from '../../src/domain/doors/markdown-twin.ts'
import { type RunningService, startService } from '../support/running-service.ts'

let running: RunningService
beforeAll(async () => {
  running = await startService()
})
afterAll(() => running.close())

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${running.url}${path}`, { headers })

async function ard(body: unknown) {
  const response = await fetch(`${running.url}/ard/search`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(body),
  })
  return { status: response.status, json: await response.json() }
}

describe('documents that say where each door stands', () => {
  test.each([
    ['/.well-known/ard.json', 'application/json'],
    ['/.well-known/ai-catalog.json', 'application/ai-catalog+json'],
    [
      '/.well-known/api-catalog',
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    ],
    ['/mcp/server-card', 'application/mcp-server-card+json'],
    ['/llms.txt', 'text/plain; charset=utf-8'],
    ['/llms-full.txt', 'text/plain; charset=utf-8'],
  ])('%s is %s', async (path, type) => {
    const response = await read(path)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
    expect(response.headers.get('access-control-allow-origin')).toBe('*')
  })

  test('every address they name on our host answers', async () => {
    const texts = await Promise.all(
      ['/.well-known/ard.json', '/.well-known/api-catalog', '/llms.txt'].map(async (path) =>
        (await read(path)).text(),
      ),
    )
    const named = new Set(texts.join('\n').match(/https:\/\/waypost\.example\/[^\s"<>)]+/g))
    // What only POST opens, and what is a template, is no address to read.
    const readable = [...named].filter(
      (url) => !/\/(?:ard|mcp|a2a|api\/v1|discovery\/.*|v0\.1\/.*)$|\{/.test(url),
    )
    expect(readable.length).toBeGreaterThan(10)
    for (const url of readable) {
      const response = await read(url.replace('https://waypost.example', ''))
      expect(response.status, url).toBe(200)
    }
  })

  test('no identifier claims a seller’s domain', async () => {
    const { json } = await ard({ query: { text: 'weather' } })
    for (const { identifier } of json.results)
      expect(identifier).toMatch(/^urn:air:waypost\.example:/)
  })
})

describe('ARD', () => {
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

  test('a filter takes one value of several in a key, and all keys', async () => {
    const { json } = await ard({
      query: { text: 'weather', filter: { kind: ['mcp_server', 'a2a_agent'], tag: 'weather' } },
    })
    for (const { type } of json.results) expect(type).not.toMatch(/kit/)
  })

  test('an entry is read whole by its name, without score and source', async () => {
    const { json } = await ard({ query: { text: 'weather' } })
    const { identifier } = json.results[0]
    const entry = await (await read(`/ard/agents/${encodeURIComponent(identifier)}`)).json()
    const { score: _, source: __, ...whole } = json.results[0]
    expect(entry).toEqual(whole)
  })

  test.each([
    ['an unknown member', { query: { text: 'x' }, sort: 'price' }, /sort/],
    ['an unknown filter', { query: { text: 'x', filter: { price: '1' } } }, /price/],
    ['no query', {}, /query/],
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

  test('a name that is not ours is not found', async () => {
    for (const urn of [
      'urn:air:other.example:kit:x',
      'urn:air:waypost.example:a2a_agent:x402.weather',
      '%E0%A4%A',
    ]) {
      const response = await read(`/ard/agents/${urn}`)
      expect(response.status, urn).toBe(404)
      expect(await response.json()).toMatchObject({ errorCode: 'NOT_FOUND' })
    }
  })
})

describe('Markdown twins', () => {
  test.each(['/listing/x402.weather', '/category/geo_weather', '/compare/weather-and-tides'])(
    '%s is the same by suffix and by Accept, and the page says where it is',
    async (path) => {
      const bySuffix = await read(`${path}.md`)
      const byAccept = await read(path, { accept: 'text/markdown' })
      const page = await read(path, { accept: 'text/html' })
      expect(bySuffix.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
      expect(await byAccept.text()).toBe(await bySuffix.text())
      expect(page.headers.get('content-type')).toMatch(/html/)
      expect(page.headers.get('link')).toContain(`<${path}.md>; rel="alternate"`)
      expect(page.headers.get('vary')?.toLowerCase()).toContain('accept')
      expect(byAccept.headers.get('vary')?.toLowerCase()).toContain('accept')
      expect(page.headers.get('etag')).not.toBe(byAccept.headers.get('etag'))
      const again = await read(path, {
        accept: 'text/markdown',
        'if-none-match': byAccept.headers.get('etag') ?? '',
      })
      expect(again.status).toBe(304)
    },
  )

  test('what sellers wrote stays text', async () => {
    const text = await (await read('/listing/api.hostile-text.md')).text()
    expect(text).toContain('\\<script\\>')
    expect(text).toContain('\\[x\\](javascript:')
  })

  test('a page that is none has no twin', async () => {
    expect((await read('/listing/mcp.nope.md')).status).toBe(404)
  })

  test.each([
    [undefined, false],
    ['*/*', false],
    ['text/html,application/xhtml+xml,*/*;q=0.8', false],
    ['text/markdown', true],
    ['text/markdown, text/html', true],
    ['text/html, text/markdown;q=0.5', false],
    ['text/markdown;q=0', false],
  ])('Accept: %s → %s', (accept, expected) => {
    expect(prefersMarkdown(accept)).toBe(expected)
  })
})
