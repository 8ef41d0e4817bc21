import { expect, test } from 'vitest'
import { IS_LONG } from '../support/long.ts'
import { expectLight } from './page-files.ts'
import { readRealPages } from './real-pages.ts'

const { ids, read, readAsset } = readRealPages()

test('the heaviest pages weigh at most 60 KB, 30 KB compressed with their face, in eight requests', async () => {
  expect(ids.length).toBeGreaterThan(IS_LONG ? 600 : 10)
  for (const id of ids.slice(0, 20)) await expectLight(read(id), async (path) => readAsset(path))
})
