import { spawnSync } from 'node:child_process'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { toShowLines } from '../../seeds/commands/review.ts'
import { readReviewOptions } from '../../seeds/commands/review-options.ts'
import { openContent } from '../../seeds/content/content-writer.ts'
import { createContentQueue } from '../../seeds/review/open-sources.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { createContentFixture } from './content-fixture.ts'
import { server } from './registry-rows.ts'

const REVIEW = new URL('../../seeds/commands/review.ts', import.meta.url).pathname
const LISTING = `---
name: "Night Lamp"
kind: mcp_server
url: "https://night-lamp.example/"
summary: "Tells when the lamp of a harbour is lit."
categories: [developer_tools]
invoke:
  - { kind: mcp, transport: streamable-http, url: "https://mcp.night-lamp.example/mcp" }
sources:
  - { source: mcp_registry, ref: "https://registry.modelcontextprotocol.io/v0.1/servers/a" }
added: 2026-11-20
---
`
const ITEM = {
  id: '3f2a9c01b7de',
  at: '2026-11-20T00:00:00.000Z',
  why: 'suspicious_text',
  from: 'mcp-registry',
  listing: 'mcp.night-lamp',
  note: 'Its text holds words that give orders to an agent: "ignore all".',
  file: { path: 'listings/mcp/night-lamp.md', text: LISTING },
}

let content: ReturnType<typeof createContentFixture>
beforeEach(() => {
  content = createContentFixture()
})
afterEach(() => content.cleanUp())

const ask = (item: object = ITEM) =>
  content.write(`review/${Object(item).id}.json`, JSON.stringify(item))
const queue = () =>
  createContentQueue({ contentDir: content.contentDir, allowPrivate: false }, () => '2026-11-21')
const settle = async (
  decision: 'accepted' | 'refused',
  more: { file?: { path: string; text: string } } = {},
) => {
  const [item] = await queue().list()
  if (item === undefined) throw new Error('nothing waits')
  return queue().settle(item, { decision, reason: 'looked at', ...more })
}
const settled = () => JSON.parse(content.read('review/settled.json'))
const isThere = (file: string) => existsSync(join(content.contentDir, file))

describe('what waits in content/review', () => {
  test('goes into the content when it is accepted, and is not asked again', async () => {
    ask()
    expect(await settle('accepted')).toContain(
      'listings/mcp/night-lamp.md is in the content; the next build lists it',
    )
    expect(content.read('listings/mcp/night-lamp.md')).toBe(LISTING)
    expect(settled()).toEqual({
      [ITEM.id]: {
        decision: 'accepted',
        reason: 'looked at',
        at: '2026-11-21',
        listing: 'mcp.night-lamp',
      },
    })
    expect(isThere(`review/${ITEM.id}.json`)).toBe(false)
    expect(await queue().list()).toEqual([])
  })

  test('lists nothing when it is refused, and the reason is kept', async () => {
    ask()
    await settle('refused')
    expect(isThere('listings/mcp/night-lamp.md')).toBe(false)
    expect(settled()[ITEM.id]).toMatchObject({ decision: 'refused', reason: 'looked at' })
  })

  test('waits on where it is no listing, with everything that is wrong', async () => {
    const text = LISTING.replace('developer_tools', 'tools_developer').replace(
      'summary:',
      'sumary:',
    )
    ask({ ...ITEM, file: { ...ITEM.file, text } })
    const fault = await settle('accepted').catch(String)
    expect(fault).toContain('listings/mcp/night-lamp.md:5 sumary: expected a known key')
    expect(fault).toContain('did you mean summary?')
    expect(fault).toContain('listings/mcp/night-lamp.md:6 categories[0]: expected a known category')
    expect(isThere('listings/mcp/night-lamp.md')).toBe(false)
    expect(isThere('review/settled.json')).toBe(false)
    expect(await queue().list()).toHaveLength(1)
  })

  test.each([
    '../outside.md',
    'listings/mcp/../../outside.md',
    'listings/other/night-lamp.md',
    'tables/site.yaml',
  ])('goes nowhere but among the listings: %s', async (path) => {
    ask({ ...ITEM, file: { ...ITEM.file, path } })
    await expect(settle('accepted')).rejects.toThrow('expected listings/<prefix>/<slug>.md')
  })

  test('never takes the place of a listing, and may be accepted under another name', async () => {
    ask()
    content.write('listings/mcp/night-lamp.md', LISTING.replace('Night Lamp', 'Other'))
    await expect(settle('accepted')).rejects.toThrow('is in the content already')
    const done = await settle('accepted', {
      file: { path: 'listings/mcp/night-lamp-2.md', text: LISTING },
    })
    expect(done.join('\n')).toContain('the same url as mcp.night-lamp')
    expect(content.read('listings/mcp/night-lamp.md')).toContain('Other')
  })

  test('of a run that was killed after any step ends as an unbroken one', async () => {
    ask()
    content.write('listings/mcp/night-lamp.md', LISTING)
    await settle('accepted')
    const whole = content.snapshot()
    // Killed before the question was taken away.
    ask()
    expect(await queue().list()).toEqual([])
    content.remove('review/settled.json')
    await settle('accepted')
    expect(content.snapshot()).toEqual(whole)
  })

  test('of another run at work is left alone until it is done', async () => {
    ask()
    const other = await openContent(content.contentDir)
    await expect(settle('accepted')).rejects.toThrow('expected no other run on this content')
    await other.release()
    await settle('accepted')
  })

  test('names a file that is none of its own', async () => {
    content.write('review/odd.json', '{"id":"odd"}')
    await expect(queue().list()).rejects.toThrow('review/odd.json at: ')
  })
})

describe('a listing that people edited and its source withdrew', () => {
  const FILE = 'listings/mcp/com.example.lamp.md'
  const row = server('com.example/lamp')
  const other = server('com.example/other')
  const seed = (rows: readonly unknown[], today: string) =>
    content.seed({ from: content.save(rows), today, force: true })

  async function withdraw() {
    await seed([row, other], '2026-11-01')
    content.write(FILE, content.read(FILE).replace(/name: .*/, 'name: "Lamp, edited"'))
    await seed([other], '2026-11-02')
    await seed([other], '2026-11-04')
  }

  test('is buried when that is accepted, and comes back as people had it', async () => {
    await withdraw()
    const edited = content.read(FILE)
    await settle('accepted')
    expect(isThere(FILE)).toBe(false)
    expect(JSON.parse(content.read('tombstones/mcp/com.example.lamp.json'))).toMatchObject({
      id: 'mcp.com.example.lamp',
      reason: 'withdrawn',
      by: 'mcp-registry',
      listing: edited,
    })
    await seed([row, other], '2026-11-05')
    expect(content.read(FILE)).toContain('Lamp, edited')
  })

  test('stays when that is refused, and is not asked about again', async () => {
    await withdraw()
    await settle('refused')
    await seed([other], '2026-11-06')
    expect(isThere(FILE)).toBe(true)
    expect(await queue().list()).toEqual([])
  })
})

describe('npm run review', () => {
  const run = (...args: string[]) =>
    spawnSync(process.execPath, [REVIEW, '--content', content.contentDir, ...args], {
      encoding: 'utf8',
      env: { ...process.env, ...FIXTURE_ENV, VISUAL: '', EDITOR: '' },
    })

  test('lists, shows, edits and accepts by the beginning of an id', () => {
    ask()
    expect(JSON.parse(run('list', '--json').stdout).items).toMatchObject([
      { kind: 'content', id: ITEM.id, listing: 'mcp.night-lamp' },
    ])
    expect(run().stdout).toContain('3f2a9c01b7de  2026-11-20  mcp-registry  mcp.night-lamp')
    expect(run('show', '3f2a').stdout).toContain('name: "Night Lamp"')
    const file = join(content.root, 'edited.md')
    writeFileSync(file, LISTING.replace('Night Lamp', 'Day Lamp'))
    expect(run('edit', '3f2a', '--file', file).status).toBe(0)
    const accepted = run('accept', '3f2a', '--json')
    expect(JSON.parse(accepted.stdout)).toMatchObject({ id: ITEM.id, decision: 'accepted' })
    expect(content.read('listings/mcp/night-lamp.md')).toContain('Day Lamp')
    const again = run('accept', '3f2a')
    expect(again.stderr).toContain('nothing waits under "3f2a"')
    expect(again.status).toBe(1)
  })

  test('says what could not be done, and exits with 1', () => {
    ask({ ...ITEM, file: { ...ITEM.file, text: 'no listing' } })
    const { status, stderr } = run('accept', ITEM.id)
    expect(stderr).toContain('the file is no listing yet')
    expect(status).toBe(1)
    expect(run('edit', ITEM.id).stderr).toContain('expected an editor in VISUAL or EDITOR')
  })

  test.each([
    [['approve', 'x'], 'expected one of list, show, accept, edit, refuse, got "approve"'],
    [['accept'], 'accept: expected the id of what waits'],
    [['refuse', 'x'], 'refuse: expected --reason TEXT'],
    [['refuse', 'x', '--reason', ' '], 'refuse: expected --reason TEXT'],
    [['list', 'x'], 'expected no "x"'],
    [['show', 'x', 'y'], 'expected no "y"'],
    [['show', 'x', '--file', 'f'], '--file and --path: expected with accept or edit'],
    [['list', '--every'], "Unknown option '--every'"],
    [['list', '--all', '--from', 'tags'], '--all: expected accept --all without an id'],
    [['accept', 'x', '--all', '--from', 'tags'], '--all: expected accept --all without an id'],
    [['accept', '--all'], '--all: expected --from tags'],
    [['accept', '--all', '--from', 'payouts'], '--all: expected --from tags'],
  ])('%j is a mistake in the command', (args, message) => {
    expect(() => readReviewOptions(args)).toThrow(message)
  })

  test('a mistake exits with 2, and says how it is right', () => {
    const { status, stderr } = run('approve')
    expect(stderr).toContain('Usage: npm run review')
    expect(status).toBe(2)
  })

  test('prints foreign text without what a terminal obeys', () => {
    const lines = toShowLines({ ...ITEM, note: 'a\u001b]0;b', found: { c: '\u202ed' } }, [
      'contact: e\u0007',
    ])
    expect(lines.join('')).not.toMatch(/[\p{Cc}\p{Cf}]/u)
    expect(lines.join('\n')).toContain('\\u{1b}]0;b')
  })
})
