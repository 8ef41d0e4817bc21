import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { readContent } from '../../src/content/read.ts'
import { createContentFixture } from './content-fixture.ts'
import { pack, remote, server } from './registry-rows.ts'

const FILE = join(
  process.env.SHARED_DIR ?? join(import.meta.dirname, '../../../shared'),
  'data/mcp-registry/servers.ndjson',
)
const ROWS = 1500

test('servers made for this test become listings that the check accepts, once and for all', () =>
  expectSettled(madeRows(60), 60))

if (!existsSync(FILE)) {
  test.skip('skipped: no data/mcp-registry in ../shared (or SHARED_DIR)', () => {})
  console.log('saved registry skipped: no data/mcp-registry in ../shared (or SHARED_DIR)')
} else
  test('real servers become listings that the check accepts, once and for all', () =>
    expectSettled(FILE, ROWS))

/** Seeds a new folder from a file, twice: what came first is sound, and the second changes nothing. */
async function expectSettled(from: string, rows: number): Promise<void> {
  const content = createContentFixture()
  try {
    const options = { from, limit: rows }
    const first = await content.seed(options)
    const { outcomes } = first.plan
    expect(outcomes.length + first.refused.length).toBe(rows)
    expect(outcomes.length).toBeGreaterThan(rows / 2)
    await content.accept()
    const { faults, counts } = readContent(content.contentDir, { allowPrivate: false })
    // Sellers made for tests live under `.example`, which every check of content remarks on.
    const found = faults.filter(({ message }) => !/\.example is a documentation host/.test(message))
    expect(found.filter(({ file }) => file.startsWith('listings/'))).toEqual([])
    expect(counts.listings).toBe(outcomes.length)
    const before = content.snapshot()
    expect((await content.seed(options)).isChanged).toBe(false)
    expect(content.snapshot()).toEqual(before)
  } finally {
    content.cleanUp()
  }
}

/** Servers of many kinds: packages, remotes, both, the same thing twice, and some to refuse. */
function madeRows(count: number): string {
  const change = (n: number) =>
    [
      {},
      { ...remote(`https://mcp.made${n}.example/mcp`), packages: [] },
      { ...remote(`https://mcp.made${n}.example/mcp`), packages: pack(`made-${n}`) },
      { packages: pack('made-twice') },
      { title: `Made ${n}`, description: '**Bold** words for <b>any</b> harbour.' },
      {
        packages: [{ registryType: 'pypi', identifier: `made_${n}`, transport: { type: 'stdio' } }],
      },
      { packages: [], remotes: [{ type: 'sse', url: 'http://localhost:3001/sse' }] },
    ][n % 7]
  const rows = Array.from({ length: count }, (_, n) => server(`made.example/tides-${n}`, change(n)))
  const file = join(mkdtempSync(join(tmpdir(), 'waypost-rows-')), 'servers.ndjson')
  writeFileSync(file, rows.map((row) => `${JSON.stringify(row)}\n`).join(''))
  onTestFinished(() => rmSync(dirname(file), { recursive: true, force: true }))
  return file
}
