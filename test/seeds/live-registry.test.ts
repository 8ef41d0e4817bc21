import { readFileSync } from 'node:fs'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { join } from 'node:path'
import { gzipSync } from 'node:zlib'
import { afterEach, describe, expect, test } from 'vitest'
import { PURPOSES } from '../../functions/net/guard.ts'
import { fetchText, readSource } from '../../seeds/fetch/read-source.ts'
import { mcpRegistry } from '../../seeds/sources/mcp-registry.ts'
import { readContent } from '../../src/content/read.ts'
import { type Site, sendJson, startSite } from '../support/site.ts'
import { contentForEachTest, FIXTURES } from './content-fixture.ts'
import { server } from './registry-rows.ts'

const content = contentForEachTest()
let registry: Site | undefined
afterEach(() => registry?.close())
const listOf = ({ url }: Site) => `${url}/v0.1/servers?limit=100&version=latest`

async function open(answer: (request: IncomingMessage, response: ServerResponse) => void) {
  registry = await startSite(answer)
  return registry
}

describe('the live registry', () => {
  test('is read page by page, with its cursor sent back encoded', async () => {
    registry = await startSite(pages)
    const result = await content.seed({ from: listOf(registry) })
    expect(registry.requested).toEqual([
      '/v0.1/servers?limit=100&version=latest',
      '/v0.1/servers?limit=100&version=latest&cursor=io.github.Tide-Tables%2FTides%3A0.3.0',
    ])
    expect(result.rows).toBe(5)
    expect(result.plan.outcomes).toHaveLength(4)
    expect(result.refused.map(({ reason, name }) => [reason, name])).toEqual([
      ['same_endpoints', 'io.github.copycat/forecast'],
    ])
  })

  test('that always has another page, with or without rows, is given up, and nothing is kept of it', async () => {
    let page = 0
    let servers: unknown[] = []
    const { url, requested } = await open((_request, response) => {
      page += 1
      sendJson(response, { servers, metadata: { nextCursor: `page-${page}` } })
    })
    const before = content.snapshot()
    await expect(content.seed({ from: url })).rejects.toThrow('20 pages without rows')
    expect(requested).toHaveLength(20)
    servers = [{ server: server('io.github.user/x') }]
    const options = { source: mcpRegistry, from: url, limit: null, retryMs: 1, progress: () => {} }
    const read = readSource({ ...options, maxPages: 25 })
    await expect(read).rejects.toThrow('expected at most 25 pages')
    expect(requested).toHaveLength(20 + 25)
    expect(content.snapshot()).toEqual(before)
  })

  test('is not asked for more pages than a limit needs', async () => {
    registry = await startSite(pages)
    await content.seed({ from: listOf(registry), limit: 1 })
    expect(registry.requested).toHaveLength(1)
  })

  test('is asked again after a passing failure', async () => {
    const failures = [429, 503]
    registry = await startSite((request, response) => {
      const status = failures.shift()
      if (status === undefined) return pages(request, response)
      response.writeHead(status, { 'retry-after': '0' }).end()
    })
    expect((await content.seed({ from: listOf(registry) })).plan.outcomes).toHaveLength(4)
    expect(registry.requested).toHaveLength(4)
  })

  test('is asked again after a connection that broke in the middle of a page', async () => {
    let broken = 0
    registry = await startSite((request, response) => {
      if (broken++ > 0) return pages(request, response)
      response.writeHead(200, { 'content-length': 1000 })
      response.write('{"servers":[')
      setTimeout(() => response.destroy(), 20)
    })
    expect((await content.seed({ from: listOf(registry) })).plan.outcomes).toHaveLength(4)
  })

  test('a failure on a later page writes nothing at all', async () => {
    registry = await startSite((request, response) =>
      request.url?.includes('cursor=') ? sendJson(response, {}, 500) : pages(request, response),
    )
    const before = content.snapshot()
    await expect(content.seed({ from: listOf(registry) })).rejects.toThrow(
      /cursor=.*expected status 200, got 500 \(4 tries\)/,
    )
    expect(content.snapshot()).toEqual(before)
  })

  test.each<[string, RegExp, (request: IncomingMessage, response: ServerResponse) => void]>([
    [
      'an unknown page',
      /expected status 200, got 404/,
      (_, response) => sendJson(response, {}, 404),
    ],
    [
      'another host',
      /no redirect to another host, got http:\/\/other\.example\//,
      (_, response) => response.writeHead(302, { location: 'http://other.example/' }).end(),
    ],
    [
      'redirects without end',
      /at most 3 redirects/,
      (_, response) => response.writeHead(302, { location: '/again' }).end(),
    ],
    [
      'a page of HTML',
      /expected a page of servers/,
      (_, response) => response.end('<!doctype html>\n<p>maintenance'),
    ],
    [
      'a cursor that stands still',
      /a new page each time/,
      (_, response) => sendJson(response, { servers: [], metadata: { nextCursor: 'x' } }),
    ],
  ])('%s is an error that says what was expected', async (_what, message, answer) => {
    registry = await startSite(answer)
    await expect(content.seed({ from: listOf(registry) })).rejects.toThrow(message)
  })

  test('an empty registry is not an error', async () => {
    registry = await startSite((_, response) => sendJson(response, { servers: [], metadata: {} }))
    expect((await content.seed({ from: listOf(registry) })).rows).toBe(0)
  })
})

describe('a server that the registry marks as deleted', () => {
  const name = 'io.github.user/lamp'
  const row = (status: string) => ({
    server: server(name),
    _meta: {
      'io.modelcontextprotocol.registry/official': {
        status,
        publishedAt: '2026-11-01T00:00:00Z',
        isLatest: true,
      },
    },
  })
  const other = { server: server('io.github.user/other') }

  /** As the registry does, it shows deleted rows to those alone who ask for them, or for changes. */
  async function openRegistry() {
    const state = { status: 'active' }
    const { url } = await open((request, response) => {
      const requested = new URL(request.url ?? '', 'http://registry.example').searchParams
      const isChanges = requested.has('updated_since')
      const showsAll = isChanges || requested.get('include_deleted') === 'true'
      const isShown = state.status === 'active' || (state.status === 'deleted' && showsAll)
      const servers = [...(isChanges ? [] : [other]), ...(isShown ? [row(state.status)] : [])]
      sendJson(response, { servers, metadata: {} })
    })
    const { pathname, search } = new URL(mcpRegistry.liveUrl ?? '')
    return { state, from: `${url}${pathname}${search}` }
  }
  const tombstones = () => [
    ...(readContent(content.contentDir, { allowPrivate: false }).content?.tombstones.keys() ?? []),
  ]

  test.each([
    ['the next whole run', {}, 1],
    ['a run over what changed', { since: '2026-11-20T00:00:00.000Z' }, 1],
    ['a run with a limit, which withdraws nothing', { limit: 2 }, 0],
  ])('is seen by %s', async (_, options, withdrawn) => {
    const { state, from } = await openRegistry()
    const first = await content.seed({ from })
    expect(first.plan.outcomes).toHaveLength(2)
    await content.accept()
    state.status = 'deleted'
    const second = await content.seed({ from, today: '2026-11-21', ...options })
    expect(second.suspicion).toBeNull()
    expect(second.plan.withdrawn.map(({ how }) => how)).toEqual(
      Array.from({ length: withdrawn }, () => 'tombstone'),
    )
    expect(tombstones()).toHaveLength(withdrawn)
    state.status = 'active'
    await content.seed({ from, today: '2026-11-22' })
    expect(tombstones()).toEqual([])
  })

  test('one that is gone without a mark is withdrawn by the second of two whole runs a day apart', async () => {
    const { state, from } = await openRegistry()
    await content.seed({ from })
    await content.accept()
    state.status = 'gone'
    const run = async (day: number, limit: number | null = null) =>
      (await content.seed({ from, today: `2026-11-${day}`, limit })).plan.withdrawn.length
    // A run with a limit says nothing of what it did not reach.
    expect([await run(21, 2), await run(22), await run(22), await run(23)]).toEqual([0, 0, 0, 1])
  })
})

describe('one answer', () => {
  const limits = {
    ...PURPOSES.source.limits,
    answerMs: 60_000,
    bodyBytes: 1000,
    decodedBytes: 1000,
  }
  const options = { retryMs: 1, limits }

  test('is bounded in bytes, decompressed ones', async () => {
    registry = await startSite((_, response) =>
      response.writeHead(200, { 'content-encoding': 'gzip' }).end(gzipSync('x'.repeat(100_000))),
    )
    await expect(fetchText(new URL(listOf(registry)), options)).rejects.toThrow(
      'expected at most 1000 bytes, got more',
    )
    expect(registry.requested).toHaveLength(1)
  })

  test('is bounded in time, headers and body', async () => {
    registry = await startSite((request, response) => {
      if (!request.url?.includes('slow-body')) return
      response.writeHead(200)
      const drip = setInterval(() => response.write('x'), 50)
      response.on('close', () => clearInterval(drip))
    })
    for (const path of ['/silent', '/slow-body'])
      await expect(
        fetchText(new URL(path, registry.url), {
          ...options,
          limits: { ...limits, answerMs: 300 },
        }),
      ).rejects.toThrow('expected an answer within 0.3 s (4 tries)')
  })

  test('follows a redirect on the same host', async () => {
    registry = await startSite((request, response) =>
      request.url === '/new'
        ? response.end('here')
        : response.writeHead(301, { location: '/new' }).end(),
    )
    expect(await fetchText(new URL('/old', registry.url), options)).toBe('here')
  })
})

function pages(request: IncomingMessage, response: ServerResponse) {
  const file = request.url?.includes('cursor=') ? 'page-2.json' : 'page-1.json'
  response.end(readFileSync(join(FIXTURES, file)))
}
