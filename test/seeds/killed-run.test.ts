import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openContent } from '../../seeds/content/content-writer.ts'
import { createContentFixture } from './content-fixture.ts'
import { pack, remote, server } from './registry-rows.ts'

/** Servers of which two share an endpoint, so that the order of writing could decide. */
const ROWS = [
  server('a.b/one', { ...remote('https://mcp.a.example/shared'), packages: pack('one') }),
  server('a.b/two', { ...remote('https://mcp.a.example/shared'), packages: pack('two') }),
  server('a.b/three'),
  server('a.b/four'),
]

let content: ReturnType<typeof createContentFixture>
beforeEach(() => {
  content = createContentFixture()
})
afterEach(() => content.cleanUp())

/** A run that dies as its progress is shown for the n-th time: between two files. */
async function seedUntil(writes: number, from: string): Promise<boolean> {
  let shown = 0
  let clock = 0
  const progress = {
    isTTY: true,
    write(text: string) {
      if (text.startsWith('\rwrite') && ++shown === writes) throw new Error('killed')
    },
  }
  try {
    await content.seed({ from, ports: { progress, now: () => (clock += 1000) } })
    return true
  } catch (error) {
    if (error instanceof Error && error.message === 'killed') return false
    throw error
  }
}

describe('a run that is killed', () => {
  test('anywhere: the next run ends where an unbroken one does', async () => {
    const from = content.save(ROWS)
    await content.seed({ from })
    const unbroken = content.snapshot()
    content.cleanUp()
    for (let writes = 1; ; writes++) {
      content = createContentFixture()
      const saved = content.save(ROWS)
      const isDone = await seedUntil(writes, saved)
      await content.seed({ from: saved })
      expect(Object.values(content.snapshot())).toEqual(Object.values(unbroken))
      if (isDone) break
      content.cleanUp()
    }
  })

  test('what a person edited before the next run stays the person’s', async () => {
    const from = content.save(ROWS)
    await seedUntil(3, from)
    const file = 'listings/mcp/a.b.four.md'
    const edited = content.read(file).replace('name: "four"', 'name: "Four by hand"')
    content.write(file, edited)
    const changed = ROWS.map((row) => ({ ...row, title: 'Renamed', description: 'Other words.' }))
    await content.seed({ from: content.save(changed) })
    expect(content.read(file)).toContain('name: "Four by hand"')
    expect(content.read(file)).toContain('summary: "Other words."')
  })

  test('what it left of its own is cleared away: no temporary file, no mark of a run', async () => {
    const dead = 2 ** 22 - 1
    content.write('seeds/.running', '')
    content.write(`seeds/.${dead}.tmp`, '---\nname: half')
    await content.seed({ from: content.save(ROWS) })
    const left = Object.keys(content.snapshot()).filter((file) =>
      /\.tmp$|\.running$|next/.test(file),
    )
    expect(left).toEqual([])
  })

  test('a second run beside a living one is refused and says what to do', async () => {
    const from = content.save(ROWS)
    const other = await openContent(content.contentDir)
    await expect(content.seed({ from })).rejects.toThrow(
      /\.running: expected no other run on this content; wait until it is done/,
    )
    await other.release()
    expect(Object.keys(content.snapshot()).some((file) => file.endsWith('.md'))).toBe(false)
  })
})

describe('a run that looks wrong writes nothing', () => {
  test('when every row is refused', async () => {
    const before = content.snapshot()
    const from = content.save([server('a.b/c', { description: '' }), { odd: true }])
    const result = await content.seed({ from })
    expect(result.suspicion).toBe('every one of 2 rows was refused')
    expect(Object.keys(content.snapshot()).filter((file) => !file.endsWith('.ndjson'))).toEqual(
      Object.keys(before),
    )
  })

  test('when fewer than half of the last whole run are left, unless it is told to', async () => {
    await content.seed({ from: content.save(ROWS) })
    const before = readFileSync(join(content.contentDir, 'seeds/mcp-registry.json'), 'utf8')
    const from = content.save(ROWS.slice(0, 1))
    const result = await content.seed({ from })
    expect(result.suspicion).toBe('1 listings where the last whole run took 4')
    expect(readFileSync(join(content.contentDir, 'seeds/mcp-registry.json'), 'utf8')).toBe(before)
    expect((await content.seed({ from, limit: 1 })).suspicion).toBeNull()
    expect((await content.seed({ from, force: true })).suspicion).toBeNull()
  })

  test('when the source is suddenly empty', async () => {
    await content.seed({ from: content.save(ROWS) })
    const empty = join(content.root, 'empty.json')
    writeFileSync(empty, '{"servers":[]}')
    expect((await content.seed({ from: empty })).suspicion).toContain('0 listings')
    expect(content.read('listings/mcp/a.b.three.md')).toContain('three')
  })

  test.each([
    ['{"servers":"none"}', 'expected a page of servers'],
    ['{"servers":null}', 'expected a page of servers'],
    ['{"error":"maintenance"}', 'got "{\\"error\\":\\"maintenance\\"}"'],
    ['<!doctype html>\n<p>maintenance', 'expected a page of servers'],
    ['{"servers":[{"server":{"name":"a.b/c"', 'expected a page of servers'],
  ])('when the source answers %s', async (text, message) => {
    const file = join(content.root, 'odd.json')
    writeFileSync(file, text)
    await expect(content.seed({ from: file })).rejects.toThrow(message)
  })
})
