import * as v from 'valibot'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordChanges } from '../../src/build/changes.ts'
import { copyRelease, readReleasedFile, switchRelease } from '../support/fixture-release.ts'
import { type RunningService, serveFixture, startService } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'
import { readAsEditor, ServerList, ServerResponse } from './registry-shape.ts'

const CONTENT_HASHES = 'data/content-hashes.ndjson'

const running = serveFixture()

async function read(path: string) {
  const response = await fetch(`${running.url}${path}`)
  return { status: response.status, json: await response.json() }
}

describe('the MCP registry’s read API', () => {
  test('an editor reads all of it, page by page', async () => {
    const all = v.parse(ServerList, (await read('/v0.1/servers')).json)
    const { found } = await readAsEditor(running.url, { pageSize: 1 })
    const search = await read('/api/v1/search?kind=mcp_server')
    expect(found).toEqual(all.servers)
    expect(new Set(found.map(({ server }) => server.name)).size).toBe(search.json.total)
  })

  test('an editor’s search goes on from page to page, although it sends the words once', async () => {
    const { json } = await read('/v0.1/servers?search=k&limit=100')
    const all = v.parse(ServerList, json)
    const { found } = await readAsEditor(running.url, { text: 'k', pageSize: 1 })
    const { found: everything } = await readAsEditor(running.url)
    expect(found).toEqual(all.servers)
    const last = await read(`/v0.1/servers?search=k&limit=${found.length}`)
    expect(last.json.metadata).toEqual({ count: found.length })
    expect(found.length).toBeGreaterThan(1)
    expect(found.length).toBeLessThan(everything.length)
  })

  test('a cursor belongs to one search', async () => {
    const { json } = await read('/v0.1/servers?search=k&limit=1')
    const cursor = encodeURIComponent(json.metadata.nextCursor)
    const other = await read(`/v0.1/servers?search=tenki&cursor=${cursor}`)
    expect([other.status, other.json.error]).toEqual([400, expect.stringContaining('same search')])
    expect((await read(`/v0.1/servers?search=k&cursor=${cursor}`)).status).toBe(200)
  })

  test('trust stands under our own key, which no registry uses', async () => {
    const { json } = await read('/v0.1/servers?search=harbour')
    expect(json.servers[0]._meta).toMatchObject({
      'example.waypost/listing': { id: 'mcp.harbour', trust: { evidence: expect.any(String) } },
    })
  })

  test('a server is read by its encoded name, by version and as the latest', async () => {
    const [first] = v.parse(ServerList, (await read('/v0.1/servers?limit=1')).json).servers
    const name = encodeURIComponent(first?.server.name ?? '')
    const versions = await read(`/v0.1/servers/${name}/versions`)
    expect(v.parse(ServerList, versions.json).servers).toEqual([first])
    const latest = await read(`/v0.1/servers/${name}/versions/latest`)
    expect(v.parse(ServerResponse, latest.json)).toEqual(first)
    const fixed = await read(`/v0.1/servers/${name}/versions/${first?.server.version}`)
    expect(fixed.json).toEqual(first)
  })

  test.each([
    ['/v0.1/servers?limit=0', 400, /limit/],
    ['/v0.1/servers?limit=101', 400, /limit/],
    ['/v0.1/servers?sort=name', 400, /sort/],
    ['/v0.1/servers?updated_since=yesterday', 400, /RFC 3339/],
    ['/v0.1/servers?include_deleted=maybe', 400, /true or false/],
    ['/v0.1/servers?cursor=a&cursor=b', 400, /more than once/],
    ['/v0.1/servers?cursor=', 400, /cursor/],
    ['/v0.1/servers?cursor=garbage', 400, /nextCursor/],
    ['/v0.1/servers?cursor=com.example%2Fweather', 400, /nextCursor/],
    ['/v0.1/servers?cursor=Y29t.abcdefghijk', 400, /nextCursor/],
    [`/v0.1/servers?search=${'x'.repeat(600)}`, 400, /at most 512/],
    ['/v0.1/servers/com.example%2Fnobody/versions', 404, /not found/],
    ['/v0.1/servers/com.example%2Fnobody/versions/latest', 404, /not found/],
    ['/v0.1/servers/%E0%A4%A/versions', 400, /percent/],
  ])('%s answers %i with the registry’s form of error', async (path, status, error) => {
    const answer = await read(path)
    expect(answer.status).toBe(status)
    expect(answer.json).toEqual({ error: expect.stringMatching(error) })
  })

  test('what was added before a time is left out, a version nobody has finds nothing', async () => {
    expect((await read('/v0.1/servers?updated_since=2099-01-01T00:00:00Z')).json.servers).toEqual(
      [],
    )
    expect((await read('/v0.1/servers?version=99.9.9')).json.servers).toEqual([])
  })

  test('a server that left is told to who asks what changed, and to who asks for it', async () => {
    const names = async (query: string) => {
      const { json } = await read(`/v0.1/servers?${query}`)
      return v.parse(ServerList, json).servers.map(({ server }) => server.name)
    }
    const gone = 'example.lighthouse/lights'
    expect(await names('')).not.toContain(gone)
    expect(await names('include_deleted=true')).toContain(gone)
    expect(await names('updated_since=2026-10-15T08:00:00Z')).toContain(gone)
    expect(await names('updated_since=2026-10-15T08:00:01Z')).not.toContain(gone)
    expect(await names('updated_since=2026-10-01T00:00:00Z&include_deleted=false')).not.toContain(
      gone,
    )
    const path = `/v0.1/servers/${encodeURIComponent(gone)}/versions/latest`
    expect((await read(path)).status).toBe(404)
    const { json } = await read(`${path}?include_deleted=true`)
    expect(v.parse(ServerResponse, json)).toMatchObject({
      server: { name: gone, title: 'Lighthouse', version: '1.4.0' },
      _meta: {
        'io.modelcontextprotocol.registry/official': {
          status: 'deleted',
          statusChangedAt: '2026-10-15T08:00:00Z',
          statusMessage: expect.stringContaining('source no longer lists it'),
        },
      },
    })
  })

  test('nothing can be published here', async () => {
    const response = await fetch(`${running.url}/v0.1/servers`, { method: 'POST' })
    expect(response.status).toBe(405)
  })
})

describe('updated_since', () => {
  const outDir = tempFolder('out')
  let waypost: RunningService
  let edited: string | undefined
  /** Two publications; the second edits one server. */
  beforeAll(async () => {
    const first = 'a'.repeat(20)
    const second = 'b'.repeat(20)
    copyRelease(outDir, first)
    const hashes = readReleasedFile(outDir, first, CONTENT_HASHES).toString()
    const lines = hashes.trimEnd().split('\n')
    const at = lines.findIndex((line) => JSON.parse(line).id.startsWith('mcp.'))
    edited = JSON.parse(lines[at] ?? '').id
    lines[at] = JSON.stringify({ ...JSON.parse(lines[at] ?? ''), hash: '0' })
    copyRelease(outDir, second, { [CONTENT_HASHES]: `${lines.join('\n')}\n` })
    recordChanges(outDir, first, new Date('2027-11-01T10:00:00Z'))
    recordChanges(outDir, second, new Date('2027-11-02T10:00:00Z'))
    switchRelease(outDir, second)
    waypost = await startService({ OUT_DIR: outDir })
  })
  afterAll(() => waypost.close())

  test.each([
    ['2027-11-01T10:00:00Z', 'all that were first published then'],
    ['2027-11-01T10:00:01Z', 'the one that a later release changed'],
    ['2027-11-02T10:00:01Z', 'none'],
  ])('%s: %s', async (since, what) => {
    const listed = async (query: string) => {
      const answer = await fetch(`${waypost.url}/v0.1/servers?limit=100${query}`)
      return v.parse(ServerList, await answer.json()).servers.map((row) => JSON.stringify(row))
    }
    const every = await listed('')
    const changed = await listed(`&updated_since=${since}`)
    if (what === 'none') return expect(changed).toEqual([])
    if (what.startsWith('all')) return expect(changed).toEqual(every)
    expect(changed).toHaveLength(1)
    expect(changed[0]).toContain(`/${edited}`)
  })
})
