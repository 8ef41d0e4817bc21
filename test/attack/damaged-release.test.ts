import { readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toIndexFile } from '../../src/search/index/index-file.ts'
import { copyRelease, releasedPath, switchRelease } from '../support/fixture-release.ts'
import { askRaw } from '../support/raw-answer.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** A server over a release that a failing disk has been at. */
const outDir = tempFolder('damaged')
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

afterAll(() => waypost.close())

async function ask(path: string, coding = 'identity', method = 'GET') {
  const headers = { 'accept-encoding': coding }
  const answer = await askRaw(waypost.url, { path: `/${path}`, headers, method })
  const type = String(answer.headers['content-type'])
  return { status: answer.status, type, body: String(answer.bytes) }
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
const otherIndex = Buffer.concat([
  ...toIndexFile(JSON.parse('{"noun":"listing","filters":{},"bodyStarts":[]}'), []),
])

test.each([
  ['rows', 'data/listings.ndjson', '{"id":"x402.weather","of":"another version"}\n'],
  ['search index', 'data/search.index', otherIndex],
])(
  'a release whose %s are of another version is refused with what to do',
  async (_, path, content) => {
    const other = tempFolder('version')
    copyRelease(other, NAME, { [path]: content })
    switchRelease(other, NAME)
    await expect(startService({ OUT_DIR: other })).rejects.toThrow(/another version.*build again/)
  },
)

test('without a release the start says how to get one', async () => {
  await expect(startService({ OUT_DIR: join(outDir, 'none') })).rejects.toThrow(
    /contains no release.*npm run build/,
  )
})
