import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate as turn } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { copyRelease, switchRelease } from '../support/fixture-release.ts'
import { type RunningService, startService } from '../support/running-service.ts'

const SWAPS = 200
/** Swaps after which every cache has what it holds at most. */
const SETTLED = 12
/** What a swap may leave; page code of its own would leave some five thousand kilobytes. */
const MOST_KILOBYTES = 40

const outDir = mkdtempSync(join(tmpdir(), 'waypost-swaps-'))
let waypost: RunningService

beforeAll(async () => {
  copyRelease(outDir, 'first')
  switchRelease(outDir, 'first')
  waypost = await startService({ OUT_DIR: outDir })
})
afterAll(async () => {
  await waypost.close()
  rmSync(outDir, { recursive: true })
})

test('swapping releases under load leaves nothing behind', async () => {
  const heap = await createHeapMeter()
  const statuses = new Set<number>()
  let settled = 0
  for (let swap = 0; swap < SWAPS; swap += 1) {
    switchRelease(outDir, placeSuccessor(swap))
    const requested = ['/search?q=weather', '/api/v1/search?q=tide', '/listing/x402.weather'].map(
      async (path) => {
        const answer = await fetch(waypost.url + path)
        statuses.add(answer.status)
        await answer.arrayBuffer()
      },
    )
    await Promise.all([waypost.service.refresh(), ...requested])
    if (swap === SETTLED) settled = await heap()
  }
  expect([...statuses]).toEqual([200])
  const left = ((await heap()) - settled) / 1024 / (SWAPS - SETTLED)
  console.log(`  ${SWAPS} swaps under load left ${left.toFixed(1)} KiB each`)
  expect(left).toBeLessThan(MOST_KILOBYTES)
  expect(waypost.log.filter((line) => line.includes('release.swapped'))).toHaveLength(SWAPS)
}, 300_000)

/** Another release, whose list and pages are its own; its page code is that of the first. */
function placeSuccessor(number: number): string {
  const name = `swap-${number}`
  copyRelease(outDir, name, { 'public/docs/index.html': `<h1>${name}</h1>` })
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
