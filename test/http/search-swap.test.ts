import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import * as v from 'valibot'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildSearchIndex } from '../../src/search/index/build-index.ts'
import { sampleDocument } from '../search/search-samples.ts'
import { copyRelease, switchRelease } from '../support/fixture-release.ts'
import { type RunningService, startService } from '../support/running-service.ts'
import { tempFolder } from '../support/temp-folder.ts'

/** A server over a copy of the fixture release, whose index is then swapped under load. */
const outDir = tempFolder('search-swap')
let running: RunningService
/** The listings of the first release, as long as anybody holds it. */
let firstListings: WeakRef<object>

const AnswerSchema = v.object({ total: v.number(), results: v.array(v.object({ id: v.string() })) })

beforeAll(async () => {
  copyRelease(outDir, 'first')
  switchRelease(outDir, 'first')
  running = await startService({ OUT_DIR: outDir })
  firstListings = new WeakRef(running.service.parts.release().listings)
})

afterAll(() => running.close())

function newIndex(id: string): Uint8Array {
  return buildSearchIndex([sampleDocument({ id, name: 'Swapped in' })])
}

/** Only the newest releases stay in a folder: each comes when it is served. */
function publish(release: string, index: Uint8Array): void {
  copyRelease(outDir, release, { 'data/search.index': index })
  switchRelease(outDir, release)
}

async function searchOnce(): Promise<v.InferOutput<typeof AnswerSchema>> {
  const response = await fetch(`${running.url}/api/v1/search`)
  expect(response.status).toBe(200)
  return v.parse(AnswerSchema, await response.json())
}

test('a new index is picked up between two answers, and none fails', async () => {
  const before = await searchOnce()
  const totals = new Set<number>()
  let swapped = false
  const clients = Array.from({ length: 4 }, async () => {
    for (let requested = 0; requested < 50; requested += 1) {
      totals.add((await searchOnce()).total)
      if (requested === 10 && !swapped) {
        swapped = true
        publish('second', newIndex('x402.swapped-in'))
        await running.service.refresh()
      }
    }
  })
  await Promise.all(clients)
  // Each answer is from the one index or from the other, never from a mixture.
  expect([...totals].sort()).toEqual([before.total, 1].sort())
  expect((await searchOnce()).results.map(({ id }) => id)).toEqual(['x402.swapped-in'])
})

test('a damaged index leaves the old one serving, and the log says so', async () => {
  const damaged = newIndex('x402.never-seen')
  damaged[damaged.length >> 1] = (damaged[damaged.length >> 1] ?? 0) ^ 1
  publish('damaged', damaged)
  await running.service.refresh()
  expect((await searchOnce()).results.map(({ id }) => id)).toEqual(['x402.swapped-in'])
  const refusal = running.log.find((line) => line.includes('release.refused'))
  expect(refusal).toMatch(/The search index is damaged/)
})

test('the next good one is taken after that', async () => {
  publish('third', newIndex('x402.third'))
  await running.service.refresh()
  expect((await searchOnce()).results.map(({ id }) => id)).toEqual(['x402.third'])
})

test('a release that was swapped out is let go', async () => {
  setFlagsFromString('--expose-gc')
  const collectGarbage = runInNewContext('gc')
  // A reference that was looked at stays until the end of its turn, and whoever still reads keeps it.
  const isGone = () => {
    collectGarbage()
    return firstListings.deref() === undefined
  }
  await expect.poll(isGone).toBe(true)
})

test('the answer is served as the specification says', async () => {
  const response = await fetch(`${running.url}/api/v1/search?limit=0`)
  expect(response.status).toBe(400)
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  const found = await fetch(`${running.url}/api/v1/search?q=swapped`)
  expect(found.headers.get('content-type')).toMatch(/^application\/json/)
  expect(found.headers.get('cache-control')).toBe('no-store')
})
