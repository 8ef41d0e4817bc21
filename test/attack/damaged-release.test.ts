import { mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { writeIndexFile } from '../../src/search/index/index-file.ts'
import { copyRelease, releasedPath, switchRelease } from '../support/fixture-release.ts'
import { type RunningService, startService } from '../support/running-service.ts'

/** A server over a release that a failing disk has been at. */
const outDir = mkdtempSync(join(tmpdir(), 'waypost-damaged-'))
const NAME = 'served'
let waypost: RunningService
let codeFile: string

const at = (path: string) => releasedPath(outDir, NAME, path)

beforeAll(async () => {
  copyRelease(outDir, NAME)
  rmSync(at('public/api/v1/listings/mcp.harbour/kit.json'))
  codeFile = at('server/entry.mjs')
  renameSync(codeFile, `${codeFile}.away`)
  switchRelease(outDir, NAME)
  waypost = await startService({ OUT_DIR: outDir })
})

afterAll(async () => {
  await waypost.close()
  rmSync(outDir, { recursive: true })
})

/** node:http, because fetch hides how a body ended. */
function ask(path: string, coding = 'identity', method = 'GET') {
  return new Promise<{ status: number; type: string; body: string }>((resolve, reject) => {
    const headers = { 'accept-encoding': coding }
    const req = request(`${waypost.url}/${path}`, { headers, method }, (res) => {
      let body = ''
      res.setEncoding('utf8')
      res.on('data', (chunk: string) => {
        body += chunk
      })
      res.on('error', reject)
      res.on('end', () =>
        resolve({
          status: res.statusCode ?? 0,
          type: String(res.headers['content-type']),
          body,
        }),
      )
    })
    req.on('error', reject).end()
  })
}

test('a file that is gone is not found, and takes no other with it', async () => {
  expect((await ask('api/v1/listings/mcp.harbour/kit.json')).status).toBe(404)
})

test('what is whole goes on being served', async () => {
  expect((await ask('api/v1/listings/mcp.harbour')).status).toBe(200)
  expect((await ask('listing/mcp.harbour', 'br')).status).toBe(200)
})

test('page code that could not be read is tried again', async () => {
  expect((await ask('search?q=weather')).status).toBe(500)
  expect(waypost.log.join('')).toContain('pages.unavailable')
  renameSync(`${codeFile}.away`, codeFile)
  const page = await ask('search?q=weather')
  expect(page.status).toBe(200)
  expect(page.body).toContain('x402.weather')
})

test.each(['data/listings.ndjson', 'data/search.index', 'release.json'])(
  'a release whose %s is damaged is refused whole, with what to do',
  async (path) => {
    const whole = readFileSync(at(path))
    truncateSync(at(path), 300)
    await expect(startService({ OUT_DIR: outDir })).rejects.toThrow(/damaged.*build again/i)
    writeFileSync(at(path), whole)
  },
)

/** Whole by its checksums, without what this version reads. */
const otherIndex = writeIndexFile(JSON.parse('{"noun":"listing","filters":{}}'), [])

test.each([
  ['rows', 'data/listings.ndjson', '{"id":"x402.weather","of":"another version"}\n'],
  ['search index', 'data/search.index', otherIndex],
])(
  'a release whose %s are of another version is refused with what to do',
  async (_, path, content) => {
    const other = mkdtempSync(join(tmpdir(), 'waypost-version-'))
    try {
      copyRelease(other, NAME, { [path]: content })
      switchRelease(other, NAME)
      await expect(startService({ OUT_DIR: other })).rejects.toThrow(/another version.*build again/)
    } finally {
      rmSync(other, { recursive: true })
    }
  },
)

test('without a release the start says how to get one', async () => {
  await expect(startService({ OUT_DIR: join(outDir, 'none') })).rejects.toThrow(
    /holds no release.*npm run build/,
  )
})
