import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openContent } from '../../seeds/content/content-writer.ts'
import { createContentFixture } from './content-fixture.ts'
import { pack, remote, server } from './registry-rows.ts'

const ROWS_FILE = 'sources/mcp-registry/rows.json'

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

const SEED = new URL('../../seeds/commands/seed.ts', import.meta.url).pathname

/** A run in a process of its own that is killed after so many milliseconds. */
function seedUntil(ms: number, from: string): void {
  const args = [SEED, 'mcp-registry', '--from', from, '--content', content.contentDir]
  spawnSync(process.execPath, args, { timeout: ms, killSignal: 'SIGKILL' })
}

describe('a run that is killed', () => {
  test('anywhere: its file is as it was or as it will be, and the next run ends where an unbroken one does', async () => {
    const many = Array.from({ length: 3000 }, (_, at) => server(`a.b/s${at}`))
    const from = content.save(many)
    await content.seed({ from })
    const whole = content.read(ROWS_FILE)
    for (const ms of [150, 400, 700, 1000, 1500]) {
      content.remove(ROWS_FILE)
      seedUntil(ms, from)
      if (Object.keys(content.snapshot()).some((file) => file.endsWith('rows.json')))
        expect(content.read(ROWS_FILE)).toBe(whole)
      await content.seed({ from })
      expect(content.read(ROWS_FILE)).toBe(whole)
    }
  })

  test('what it left of its own is cleared away: no temporary file, no mark of a run', async () => {
    const dead = 2 ** 22 - 1
    content.write('sources/.running', '')
    content.write(`sources/.${dead}.tmp`, '---\nname: half')
    await content.seed({ from: content.save(ROWS) })
    const left = Object.keys(content.snapshot()).filter((file) => /\.tmp$|\.running$/.test(file))
    expect(left).toEqual([])
  })

  test('a second run beside a living one is refused and says what to do', async () => {
    const from = content.save(ROWS)
    const other = await openContent(content.contentDir)
    await expect(content.seed({ from })).rejects.toThrow(
      /\.running: expected no other run on this content; wait until it is done/,
    )
    await other.release()
    expect(Object.keys(content.snapshot()).some((file) => file.endsWith('rows.json'))).toBe(false)
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
    const before = content.read(ROWS_FILE)
    const from = content.save(ROWS.slice(0, 1))
    const result = await content.seed({ from })
    expect(result.suspicion).toBe('1 listings where the last whole run took 4')
    expect(content.read(ROWS_FILE)).toBe(before)
    expect((await content.seed({ from, limit: 1 })).suspicion).toBeNull()
    expect((await content.seed({ from, force: true })).suspicion).toBeNull()
  })

  test('when the source is suddenly empty', async () => {
    await content.seed({ from: content.save(ROWS) })
    const empty = join(content.root, 'empty.json')
    writeFileSync(empty, '{"servers":[]}')
    expect((await content.seed({ from: empty })).suspicion).toContain('0 listings')
    expect(Object.keys(content.rows('mcp-registry'))).toContain('a.b/three')
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
