import { mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectPath } from '../../src/store/objects.ts'
import { readReleaseFile } from '../../src/store/release-list.ts'
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
  truncateSync(at('public/api/v1/listings/x402.weather/index.json'), 100)
  flipByte(at('public/listing/x402.weather/index.html'))
  flipByte(at('public/docs/index.html'))
  rmSync(at('public/api/v1/listings/mcp.harbour/kit.json'))
  const { page_code } = JSON.parse(readFileSync(join(outDir, 'releases', NAME), 'utf8'))
  codeFile = join(outDir, page_code, 'entry.mjs')
  renameSync(codeFile, `${codeFile}.away`)
  switchRelease(outDir, NAME)
  waypost = await startService({ OUT_DIR: outDir })
})

afterAll(async () => {
  await waypost.close()
  rmSync(outDir, { recursive: true })
})

function flipByte(path: string): void {
  const bytes = readFileSync(path)
  const middle = bytes.length >> 1
  bytes[middle] = (bytes[middle] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

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

test.each([
  ['cut short, compressed', 'api/v1/listings/x402.weather', 'br'],
  ['with one bit turned, compressed', 'docs', 'gzip'],
  ['with one bit turned', 'listing/x402.weather', 'identity'],
  ['that is gone', 'api/v1/listings/mcp.harbour/kit.json', 'identity'],
])(
  'a file %s is a whole 500 that the log explains, never a short body',
  async (_, path, coding) => {
    for (const method of ['GET', 'GET', 'HEAD']) {
      const answer = await ask(path, coding, method)
      expect([answer.status, answer.type]).toEqual([500, 'application/problem+json'])
      if (method === 'HEAD') continue
      const { code, id } = JSON.parse(answer.body)
      expect(code).toBe('internal')
      const line = waypost.log.find((each) => each.includes(id))
      expect(line).toContain('"event":"file.damaged"')
      expect(line).toContain(path.split('/').at(-1))
    }
  },
)

test('what is whole goes on being served', async () => {
  expect((await ask('api/v1/listings/mcp.harbour')).status).toBe(200)
  expect((await ask('listing/mcp.harbour', 'br')).status).toBe(200)
})

test('the release says at load which files are not as long as they were published', async () => {
  await waypost.service.verify()
  const line = waypost.log.find((each) => each.includes('release.damaged'))
  expect(line).toContain('"files":2')
  expect(line).toContain('public/api/v1/listings/x402.weather/index.json')
  expect(line).toContain('public/api/v1/listings/mcp.harbour/kit.json')
})

test('page code that could not be read is tried again', async () => {
  expect((await ask('search?q=weather')).status).toBe(500)
  expect(waypost.log.join('')).toContain('pages.unavailable')
  renameSync(`${codeFile}.away`, codeFile)
  const page = await ask('search?q=weather')
  expect(page.status).toBe(200)
  expect(page.body).toContain('x402.weather')
})

test.each([
  ['data/listings.ndjson', (dir: string) => releasedPath(dir, NAME, 'data/listings.ndjson')],
  ['list', (dir: string) => objectPath(dir, readReleaseFile(dir, NAME).list.digest)],
  ['own file', (dir: string) => join(dir, 'releases', NAME)],
])('a release whose %s is damaged is refused whole, with what to do', async (_, pathIn) => {
  const bad = mkdtempSync(join(tmpdir(), 'waypost-damaged-'))
  try {
    copyRelease(bad, NAME)
    truncateSync(pathIn(bad), 300)
    switchRelease(bad, NAME)
    await expect(startService({ OUT_DIR: bad })).rejects.toThrow(/damaged.*build again/)
  } finally {
    rmSync(bad, { recursive: true })
  }
})

test('a release of another version is refused with what to do', async () => {
  const other = mkdtempSync(join(tmpdir(), 'waypost-version-'))
  try {
    const rows = '{"id":"x402.weather","of":"another version"}\n'
    copyRelease(other, NAME, { 'data/listings.ndjson': rows })
    switchRelease(other, NAME)
    await expect(startService({ OUT_DIR: other })).rejects.toThrow(/another version.*build again/)
  } finally {
    rmSync(other, { recursive: true })
  }
})

test('without a release the start says how to get one', async () => {
  await expect(startService({ OUT_DIR: join(outDir, 'none') })).rejects.toThrow(
    /holds no release.*npm run build/,
  )
})
