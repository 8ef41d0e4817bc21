import { createHash } from 'node:crypto'
import { mkdtempSync, readFileSync, renameSync, rmSync, truncateSync, writeFileSync } from 'node:fs'
import { request } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyRelease, switchRelease } from '../support/fixture-release.ts'
import { type RunningService, startService } from '../support/running-service.ts'

/** A server over a release that a failing disk has been at. */
const outDir = mkdtempSync(join(tmpdir(), 'waypost-damaged-'))
const LISTING = 'api/v1/listings/x402.weather/index.json'
const PAGE = 'listing/x402.weather/index.html'
let waypost: RunningService
let codeFile: string

beforeAll(async () => {
  const dir = copyRelease(outDir, 'served')
  const inPublic = (file: string) => join(dir, 'public', file)
  truncateSync(inPublic(`${LISTING}.br`), 100)
  flipByte(inPublic(`${LISTING}.gz`))
  flipByte(inPublic(PAGE))
  rmSync(inPublic('badge/x402.weather.svg'))
  const { page_code } = JSON.parse(readFileSync(join(dir, 'data/release.json'), 'utf8'))
  codeFile = join(dir, page_code, 'entry.mjs')
  renameSync(codeFile, `${codeFile}.away`)
  switchRelease(outDir, 'served')
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
  ['with one bit turned, compressed', 'api/v1/listings/x402.weather', 'gzip'],
  ['with one bit turned', 'listing/x402.weather', 'identity'],
  ['that is gone', 'badge/x402.weather.svg', 'identity'],
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
  expect((await ask('api/v1/listings/x402.weather')).status).toBe(200)
  expect((await ask('listing/x402.weather', 'br')).status).toBe(200)
})

test('the release says at load which files are not as long as they were published', async () => {
  await waypost.service.verify()
  const line = waypost.log.find((each) => each.includes('release.damaged'))
  expect(line).toContain('"files":2')
  expect(line).toContain(`${LISTING}.br`)
  expect(line).toContain('badge/x402.weather.svg')
})

test('page code that could not be read is tried again', async () => {
  expect((await ask('search?q=weather')).status).toBe(500)
  expect(waypost.log.join('')).toContain('pages.unavailable')
  renameSync(`${codeFile}.away`, codeFile)
  const page = await ask('search?q=weather')
  expect(page.status).toBe(200)
  expect(page.body).toContain('x402.weather')
})

test.each(['data/listings.ndjson', 'data/files.ndjson', 'data/release.json'])(
  'a release whose %s is damaged is refused whole, with what to do',
  async (file) => {
    const bad = mkdtempSync(join(tmpdir(), 'waypost-damaged-'))
    try {
      truncateSync(join(copyRelease(bad, 'served'), file), 300)
      switchRelease(bad, 'served')
      await expect(startService({ OUT_DIR: bad })).rejects.toThrow(/damaged.*build again/)
    } finally {
      rmSync(bad, { recursive: true })
    }
  },
)

test('a release of another version is refused with what to do', async () => {
  const other = mkdtempSync(join(tmpdir(), 'waypost-version-'))
  try {
    const dir = copyRelease(other, 'served')
    const file = join(dir, 'data/release.json')
    const release = JSON.parse(readFileSync(file, 'utf8'))
    const rows = '{"id":"x402.weather","of":"another version"}\n'
    const digest = createHash('sha256').update(rows).digest('hex').slice(0, 32)
    writeFileSync(join(dir, 'data/listings.ndjson'), rows)
    release.files['data/listings.ndjson'] = { size: rows.length, digest }
    writeFileSync(file, JSON.stringify(release))
    switchRelease(other, 'served')
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
