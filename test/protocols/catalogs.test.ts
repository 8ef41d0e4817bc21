import { describe, expect, test } from 'vitest'
import { prefersMarkdown } from '../../functions/service/server.ts'
import { serveFixture } from '../support/running-service.ts'

const running = serveFixture()

const read = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${running.url}${path}`, { headers })

describe('documents that say where each protocol answers', () => {
  test.each([
    ['/.well-known/ard.json', 'application/json'],
    ['/.well-known/ai-catalog.json', 'application/ai-catalog+json'],
    [
      '/.well-known/api-catalog',
      'application/linkset+json; profile="https://www.rfc-editor.org/info/rfc9727"',
    ],
    ['/mcp/server-card', 'application/mcp-server-card+json'],
    ['/.well-known/mcp/server-card.json', 'application/mcp-server-card+json'],
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
    // What only POST opens, and what is a template, is not an address to read.
    const readable = [...named].filter(
      (url) => !/\/(?:ard|mcp|a2a|api\/v1|discovery\/.*|v0\.1\/.*)$|\{/.test(url),
    )
    expect(readable.length).toBeGreaterThan(10)
    for (const url of readable) {
      const response = await read(url.replace('https://waypost.example', ''))
      expect(response.status, url).toBe(200)
    }
  })
})

describe('Markdown twins', () => {
  test.each([
    '/listing/x402.weather',
    '/category/geo_weather',
    '/compare/weather-and-tides',
    '/tasks/web_search',
  ])('%s is the same by suffix and by Accept, and the page says where it is', async (path) => {
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
  })

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
