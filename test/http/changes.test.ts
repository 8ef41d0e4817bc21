import { createHash } from 'node:crypto'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { recordChanges } from '../../src/build/changes.ts'
import { copyRelease, readReleasedFile, switchRelease } from '../support/fixture-release.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'

const CONTENT_HASHES = 'data/content-hashes.ndjson'

const FIRST = 'a'.repeat(20)
const SECOND = 'b'.repeat(20)

let outDir: string
let waypost: RunningService
let ids: string[]
/** Two publications: in the second one listing had changed and one had left. */
beforeAll(async () => {
  outDir = tempFolder('out')
  copyRelease(outDir, FIRST)
  const hashes = readReleasedFile(outDir, FIRST, CONTENT_HASHES).toString()
  const rows: { id: string; hash: string; fields: Record<string, string> }[] = hashes
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line))
  ids = rows.map(({ id }) => id)
  const [edited, , ...rest] = rows
  const later = [{ ...edited, hash: '0', fields: { ...edited?.fields, name: '0' } }, ...rest]
  const lines = later.map((row) => `${JSON.stringify(row)}\n`)
  copyRelease(outDir, SECOND, { [CONTENT_HASHES]: lines.join('') })
  recordChanges(outDir, FIRST, new Date('2026-11-01T10:00:00Z'))
  recordChanges(outDir, SECOND, new Date('2026-11-02T10:00:00Z'))
  switchRelease(outDir, SECOND)
  waypost = await startService({ OUT_DIR: outDir })
})
afterAll(() => waypost.close())

const ask = async (query = '') => {
  const response = await fetch(`${waypost.url}/api/v1/changes${query}`)
  return { status: response.status, body: await response.json() }
}

describe('GET /api/v1/changes', () => {
  test('leads page by page through everything once, and then waits at the end', async () => {
    const seen: number[] = []
    let next = ''
    for (let more = true; more; ) {
      const { body } = await ask(`?limit=7${next && `&since=${next}`}`)
      expect(body.changes.length).toBeLessThanOrEqual(7)
      for (const { seq } of body.changes) seen.push(seq)
      next = body.next
      more = body.has_more
    }
    expect(seen).toEqual(Array.from({ length: ids.length + 2 }, (_, i) => i + 1))
    expect((await ask(`?since=${next}`)).body).toEqual({ changes: [], next, has_more: false })
  })

  test.each(['2026-11-02', '2026-11-02T10:00:00Z', '2026-11-02T11:00:00+01:00'])(
    'since %s has what that day’s release changed',
    async (since) => {
      const at = '2026-11-02T10:00:00.000Z'
      expect((await ask(`?since=${since}`)).body.changes).toEqual([
        { seq: ids.length + 1, at, id: ids[0], change: 'changed', fields: ['name'] },
        { seq: ids.length + 2, at, id: ids[1], change: 'removed' },
      ])
    },
  )

  test('since a time to come has nothing, and a cursor to go on from', async () => {
    const { body } = await ask('?since=2030-01-01T00:00:00Z')
    expect(body).toMatchObject({ changes: [], has_more: false })
    expect(body.next).toMatch(new RegExp(`^[0-9a-f]{16}-${ids.length + 2}$`))
  })

  test('refuses a cursor of another log, or past its end, and points to the dump', async () => {
    const { next } = (await ask()).body
    for (const since of [`${'0'.repeat(16)}-1`, next.replace(/-\d+$/, '-99999')]) {
      const { status, body } = await ask(`?since=${since}`)
      expect([status, body.code, body.dump]).toEqual([
        400,
        'invalid-parameter',
        'https://waypost.example/api/v1/listings.ndjson',
      ])
      expect(body.errors).toMatchObject([{ in: 'query', name: 'since' }])
    }
  })

  test.each([
    ['since=yesterday', 'since'],
    ['since=2026-02-30', 'since'],
    ['since=2026-11-01T00:00:00', 'since'],
    ['since=', 'since'],
    ['limit=0', 'limit'],
    ['limit=1001', 'limit'],
    ['limit=ten', 'limit'],
    ['limit=1&limit=2', 'limit'],
    ['cursor=x', 'cursor'],
  ])('names what is wrong with ?%s', async (query, name) => {
    const { status, body } = await ask(`?${query}`)
    expect(status).toBe(400)
    expect(body.errors).toMatchObject([{ in: 'query', name }])
  })

  test('names no row of a release that is published and not served yet', async () => {
    const file = join(outDir, 'changes/head.json')
    const head = JSON.parse(readFileSync(file, 'utf8'))
    const third = { ...head, release: 'c'.repeat(20), before: { release: SECOND, seq: ids.length } }
    writeFileSync(file, JSON.stringify(third))
    const { body } = await ask(`?since=${head.log}-${ids.length - 1}`)
    expect(body).toMatchObject({ changes: [{ seq: ids.length }], has_more: false })
    rmSync(file)
    expect((await ask()).body).toEqual({ changes: [], next: null, has_more: false })
    expect((await ask(`?since=${head.log}-1`)).status).toBe(400)
    writeFileSync(file, JSON.stringify(head))
  })
})

describe('the dump', () => {
  test('holds every listing as its own address answers it, and is what the stats say', async () => {
    const read = async (path: string, init: RequestInit = {}) =>
      Buffer.from(await (await fetch(waypost.url + path, init)).arrayBuffer())
    const plain = await read('/api/v1/listings.ndjson')
    const gz = await read('/api/v1/listings.ndjson.gz')
    const { dump, listings } = JSON.parse((await read('/api/v1/stats')).toString())
    const digest = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')
    expect(dump.ndjson).toEqual({
      url: '/api/v1/listings.ndjson',
      bytes: plain.length,
      sha256: digest(plain),
    })
    expect(dump.gz).toMatchObject({ bytes: gz.length, sha256: digest(gz) })
    expect(gunzipSync(gz).equals(plain)).toBe(true)
    const rows = plain.toString().trimEnd().split('\n')
    expect(rows.map((row) => JSON.parse(row).id)).toEqual(ids)
    const weather = await read('/api/v1/listings/x402.weather')
    expect(rows).toContain(weather.toString().trimEnd())
    expect(dump.licenses.map(({ source }: { source: string }) => source)).toEqual(
      Object.keys(listings.by_source),
    )
  })

  test('is a file of its own when it is asked for compressed, and compressed on the way otherwise', async () => {
    const gz = await fetch(`${waypost.url}/api/v1/listings.ndjson.gz`)
    expect(gz.headers.get('content-type')).toBe('application/gzip')
    expect(gz.headers.get('content-encoding')).toBeNull()
    const plain = await fetch(`${waypost.url}/api/v1/listings.ndjson`)
    expect(plain.headers.get('content-type')).toBe('application/x-ndjson')
    expect(plain.headers.get('content-encoding')).toBe('gzip')
    expect(plain.headers.get('vary')).toContain('accept-encoding')
  })
})
