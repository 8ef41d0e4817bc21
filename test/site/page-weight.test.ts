import { afterAll, beforeAll, expect, test } from 'vitest'
import { type RunningService, startService } from '../support/running-service.ts'
import { expectLight } from './page-files.ts'
import { type RealPages, readRealPages } from './real-pages.ts'

let waypost: RunningService
let own: RealPages
beforeAll(async () => {
  waypost = await startService()
  own = readRealPages()
})
afterAll(() => waypost?.close())

test.each(['x402.weather', 'mcp.harbour', 'api.hostile-text', 'a2a.planner'])(
  'the page of %s weighs at most 60 KB, 30 KB compressed with its face, in eight requests',
  async (id) => expectLight(await read(`/listing/${id}`), read),
)

test('so do the heaviest pages of the content that is served', async () => {
  const { ids, readAsset } = own
  expect(ids.length).toBeGreaterThan(600)
  for (const id of ids.slice(0, 20))
    await expectLight(own.read(id), async (path) => readAsset(path))
})

async function read(path: string): Promise<Buffer> {
  const response = await fetch(waypost.url + path)
  expect([path, response.status]).toEqual([path, 200])
  return Buffer.from(await response.arrayBuffer())
}
