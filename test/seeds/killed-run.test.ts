import { spawnSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, test } from 'vitest'
import { openContent } from '../../seeds/content/content-files.ts'
import { IS_LONG } from '../support/long.ts'
import { contentForEachTest } from './content-fixture.ts'
import { pack, remote, server } from './registry-rows.ts'

const ROWS_FILE = 'sources/mcp-registry/rows.json'

/** Servers of which two share an endpoint, so that the order of writing could decide. */
const ROWS = [
  server('a.b/one', { ...remote('https://mcp.a.example/shared'), packages: pack('one') }),
  server('a.b/two', { ...remote('https://mcp.a.example/shared'), packages: pack('two') }),
  server('a.b/three'),
  server('a.b/four'),
]

const content = contentForEachTest()

const SEED = new URL('../../seeds/commands/seed.ts', import.meta.url).pathname

/** Where a run can die: it writes beside the file and renames. */
const STEPS = {
  'before it writes': `fs.writeFileSync = () => die()`,
  'within its writing': `fs.writeFileSync = (path, text) => {
    write(path, text.slice(0, text.length / 2))
    die()
  }`,
  'before it renames': `fs.renameSync = () => die()`,
  'after it renamed': `fs.renameSync = (from, to) => {
    rename(from, to)
    die()
  }`,
}

/** A run in a process of its own that is killed at a step. @returns the signal that ended it */
function seedUntil(step: string, from: string) {
  const hook = `import fs from 'node:fs'
    import { syncBuiltinESMExports } from 'node:module'
    const { writeFileSync: write, renameSync: rename } = fs
    const die = () => process.kill(process.pid, 'SIGKILL')
    ${step}
    syncBuiltinESMExports()`
  const preload = ['--import', `data:text/javascript,${encodeURIComponent(hook)}`]
  const run = ['mcp-registry', '--from', from]
  const args = [...preload, SEED, ...run, '--content', content.contentDir]
  return spawnSync(process.execPath, args).signal
}

describe('a run that is killed', () => {
  test.each(Object.entries(STEPS).slice(...(IS_LONG ? [] : [1, 2])))(
    '%s: its file is as it was or as it will be, and the next run ends where an unbroken one does',
    async (name, step) => {
      const rows = [server('a.b/three'), server('a.b/four')]
      await content.seed({ from: content.save(rows), today: '2026-11-19' })
      const before = content.read(ROWS_FILE)
      const changed = content.save([...rows, server('a.b/five')])
      expect(seedUntil(step, changed)).toBe('SIGKILL')
      const left = content.read(ROWS_FILE)
      await content.seed({ from: changed })
      const whole = content.read(ROWS_FILE)
      expect(Object.keys(content.rows('mcp-registry'))).toHaveLength(3)
      expect(left).toBe(name === 'after it renamed' ? whole : before)
    },
  )

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
    expect(result.suspicion).toBe('all 2 rows were refused')
    expect(Object.keys(content.snapshot()).filter((file) => !file.endsWith('.ndjson'))).toEqual(
      Object.keys(before),
    )
  })

  test('when fewer than half of the last whole run are left, unless it is told to', async () => {
    await content.seed({ from: content.save(ROWS) })
    const before = content.read(ROWS_FILE)
    const from = content.save(ROWS.slice(0, 1))
    const result = await content.seed({ from })
    expect(result.suspicion).toBe('this run took 1 listings, but the last full run took 4')
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
