import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, expect, test } from 'vitest'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import {
  copyRelease,
  readFixtureName,
  readReleasedFile,
  switchRelease,
} from '../support/fixture-release.ts'
import { forAllTests } from '../support/for-tests.ts'
import { startService } from '../support/running-service.ts'
import { startSite } from '../support/site.ts'

const SWAPS = 200
/** Swaps after which every cache has what it holds at most. */
const SETTLED = 12
/** What a swap may leave; page code of its own would leave some five thousand kilobytes. */
const MOST_KILOBYTES = 40

const outDir = mkdtempSync(join(tmpdir(), 'waypost-swaps-'))
const seller = forAllTests(startSite)
const waypost = forAllTests(() => {
  seller.answer = (req, res) => void req.resume().on('end', () => res.end('{"sold":true}'))
  switchRelease(outDir, place('first'))
  return startService({ OUT_DIR: outDir, UNSAFE_ALLOW_PRIVATE_TARGETS: 'true' })
})
afterAll(() => rmSync(outDir, { recursive: true }))

test('swapping releases under load leaves nothing behind', async () => {
  const heap = await createHeapMeter()
  const statuses = new Set<number>()
  let settled = 0
  for (let swap = 0; swap < SWAPS; swap += 1) {
    switchRelease(outDir, place(`swap-${swap}`))
    const requested = toRequests(swap).map(async ([path, init]) => {
      const answer = await fetch(waypost.url + path, { redirect: 'manual', ...init })
      statuses.add(answer.status)
      await answer.arrayBuffer()
    })
    await Promise.all([waypost.service.refresh(), ...requested])
    if (swap === SETTLED) settled = await heap()
  }
  expect([...statuses].sort()).toEqual([200, 302])
  const left = ((await heap()) - settled) / 1024 / (SWAPS - SETTLED)
  console.log(`  ${SWAPS} swaps under load left ${left.toFixed(1)} KiB each`)
  expect(left).toBeLessThan(MOST_KILOBYTES)
  expect(waypost.log.filter((line) => line.includes('release.swapped'))).toHaveLength(SWAPS)
}, 300_000)

/** What a server is asked; no query is asked twice. */
function toRequests(n: number): [path: string, init?: RequestInit][] {
  const params = { name: 'search_listings', arguments: { query: `weather ${n}` } }
  const message = { jsonrpc: '2.0', id: n, method: 'tools/call', params }
  const headers = { 'content-type': 'application/json' }
  const accept = 'application/json, text/event-stream'
  return [
    [`/search?q=weather+${n}`],
    [`/api/v1/search?q=tide+${n}&view=compact`],
    ['/listing/x402.weather'],
    ['/badge/x402.weather.svg'],
    [`/go/x402.weather?pos=${n % 20}&src=api`],
    ['/mcp', { method: 'POST', headers: { ...headers, accept }, body: JSON.stringify(message) }],
    ['/api/v1/call/x402.weather'],
    ['/api/v1/call/x402.weather', { method: 'POST', headers, body: JSON.stringify({ n }) }],
  ]
}

/** Another release, whose list and pages are its own; its page code is that of the first. */
function place(name: string): string {
  const listings = 'data/listings.ndjson'
  const rows = readReleasedFile(FIXTURE_ENV.OUT_DIR, readFixtureName(), listings).toString()
  copyRelease(outDir, name, {
    'public/docs/index.html': `<h1>${name}</h1>`,
    [listings]: rows.replace('https://api.weather.example/v1/now', `${seller.url}/`),
  })
  return name
}

async function createHeapMeter(): Promise<() => Promise<number>> {
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc')
  return async () => {
    for (let turns = 0; turns < 5; turns += 1) {
      await turn()
      collect()
    }
    return process.memoryUsage().heapUsed
  }
}
