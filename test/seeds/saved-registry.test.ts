import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readContent } from '../../src/compile/content/read-content.ts'
import { createContentFixture } from './content-fixture.ts'

const FILE = join(
  process.env.SHARED_DIR ?? join(import.meta.dirname, '../../../shared'),
  'data/mcp-registry/servers.ndjson',
)
const ROWS = 1500

if (!existsSync(FILE)) {
  test.skip('skipped: no data/mcp-registry in ../shared (or SHARED_DIR)', () => {})
  console.log('saved registry skipped: no data/mcp-registry in ../shared (or SHARED_DIR)')
} else
  test('real servers become listings that the check accepts, once and for all', async () => {
    const content = createContentFixture()
    try {
      const options = { from: FILE, limit: ROWS }
      const first = await content.seed(options)
      const { writes, outcomes } = first.plan
      expect(outcomes.length + first.refused.length).toBe(ROWS)
      expect(writes.length).toBeGreaterThan(ROWS / 2)
      const { faults, counts } = readContent(content.contentDir, { allowPrivate: false })
      expect(faults.filter(({ file }) => file.startsWith('listings/'))).toEqual([])
      expect(counts.listings).toBe(writes.length)
      const before = content.snapshot()
      expect((await content.seed(options)).plan).toMatchObject({ writes: [] })
      expect(content.snapshot()).toEqual(before)
    } finally {
      content.cleanUp()
    }
  })
