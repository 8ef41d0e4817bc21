import { execFile, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { takeFileLock } from '../../functions/store/sqlite.ts'
import { findRelease, listFiles } from '../../src/build/folder.ts'
import { buildData } from '../support/data-build.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import {
  copyFixture,
  copyRelease,
  currentOf,
  hashOwnFiles,
  releasedPath,
  switchRelease,
} from '../support/fixture-release.ts'
import { IS_LONG, longTest } from '../support/long.ts'
import { createDraws } from '../support/random.ts'
import { EDITS } from '../support/random-edits.ts'
import { runHere } from '../support/run-here.ts'
import { startService } from '../support/running-service.ts'

let root: string
let content: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'waypost-releases-'))
  content = join(root, 'content')
  cpSync(FIXTURE_ENV.CONTENT_DIR, content, { recursive: true })
  copyFixture(outDirOf('one'))
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const outDirOf = (name: string) => join(root, name)
const envOf = (name: string) => ({
  ...FIXTURE_ENV,
  ...{ CONTENT_DIR: content, STATE_DIR: join(root, 'no-state'), OUT_DIR: outDirOf(name) },
})

/** @param from folder of the project */
async function build(name: string, from = '.'): Promise<{ status: number; stdout: string }> {
  const env = { ...process.env, ...envOf(name) }
  const command = promisify(execFile)(process.execPath, ['functions/commands/build.ts'], {
    env,
    cwd: from,
  })
  return command.then(
    ({ stdout }) => ({ status: 0, stdout }),
    ({ code, stdout, stderr }) => ({ status: Number(code), stdout: `${stdout}${stderr}` }),
  )
}

/** One build, within this process and without pages; it holds no lock. */
async function buildDataOnce(name: string) {
  const lines: string[] = []
  await buildData(envOf(name), (line) => void lines.push(line))
  return { status: 0, stdout: lines.join('\n') }
}

const filesOf = (name: string) => hashOwnFiles(outDirOf(name))

/** Another place to build from: hard links, so that every module has another address, those of packages too. */
function cloneProject(): string {
  const clone = resolve('.cache/a clone of the project')
  rmSync(clone, { recursive: true, force: true })
  mkdirSync(clone, { recursive: true })
  const parts = ['src', 'content', 'functions', 'node_modules', 'astro.config.mjs']
  const files = ['package.json', 'package-lock.json', 'tsconfig.json']
  const copied = spawnSync('cp', ['-al', ...parts, ...files, clone])
  if (copied.status !== 0) throw new Error(String(copied.stderr))
  return clone
}

const LONG = { timeout: 300_000 }

/** As people and machines edit. */
function edit(): void {
  const random = createDraws(1)
  for (const name of [
    'a changed summary',
    'a longer description',
    'an added listing',
    'a removed listing',
    'changed evidence',
  ])
    EDITS[name]?.(content, random)
  const harbour = readFileSync(join(content, 'listings/mcp/harbour.md'), 'utf8')
  writeFileSync(
    join(content, 'listings/mcp/lighthouse.md'),
    harbour.replace('name: Harbour', 'name: Lighthouse'),
  )
}

test('a build waits for one that runs in its folder', async () => {
  const lock = takeFileLock(join(FIXTURE_ENV.OUT_DIR, 'build.lock'))
  const env = { ...process.env, ...FIXTURE_ENV }
  const child = spawn(process.execPath, ['functions/commands/build.ts'], { env })
  let stated = ''
  child.stdout.on('data', (bytes) => {
    stated += bytes
  })
  await expect.poll(() => stated).toMatch(/waiting for another build in /)
  expect(stated).not.toContain('is current')
  lock?.[Symbol.dispose]()
  expect((await once(child, 'exit'))[0]).toBe(0)
  expect(stated).toContain('is current')
})

test(
  'of two builds over an earlier release one waits (npm run test:long); while a server serves it no request fails, the server takes it, and what did not change is linked',
  LONG,
  async () => {
    const before = currentOf(outDirOf('one'))
    const waypost = await startService({ OUT_DIR: outDirOf('one'), CONTENT_DIR: content })
    const find = async () =>
      (await (await fetch(`${waypost.url}/api/v1/search?q=lighthouse`)).json()).total
    try {
      expect(await find()).toBe(0)
      edit()
      const statuses = new Set<number>()
      let isBuilding = true
      const asking = (async () => {
        while (isBuilding) {
          statuses.add((await fetch(`${waypost.url}/api/v1/search?q=harbour`)).status)
          statuses.add((await fetch(`${waypost.url}/api/v1/listings/mcp.harbour`)).status)
          await waypost.service.refresh()
          await new Promise((later) => setTimeout(later, 50))
        }
      })()
      const builds = IS_LONG
        ? await Promise.all([build('one'), build('one')])
        : [await buildDataOnce('one'), await buildDataOnce('one')]
      expect(builds.map(({ status }) => status)).toEqual([0, 0])
      const stated = builds.map(({ stdout }) => stdout).join('')
      if (IS_LONG) expect(stated).toMatch(/waiting for another build in /)
      expect(stated.match(IS_LONG ? / {2}pages\n/g : / {2}search indexes\n/g)).toHaveLength(1)
      expect(stated.match(/is current/g)).toHaveLength(2)
      await waypost.service.refresh()
      isBuilding = false
      await asking
      expect([...statuses]).toEqual([200])
      expect(await find()).toBe(1)

      const serving = currentOf(outDirOf('one'))
      copyRelease(outDirOf('one'), 'damaged')
      truncateSync(releasedPath(outDirOf('one'), 'damaged', 'data/search.index'), 500)
      switchRelease(outDirOf('one'), 'damaged')
      await waypost.service.refresh()
      expect(await find()).toBe(1)
      expect(waypost.log.join('')).toContain('release.refused')
      switchRelease(outDirOf('one'), serving)
    } finally {
      await waypost.close()
    }
    // Pages with their compressed copies too, where they are built.
    const after = currentOf(outDirOf('one'))
    expect(after).not.toBe(before)
    const linked = listFiles(join(outDirOf('one'), 'releases', after)).filter((path) => {
      const known = statSync(releasedPath(outDirOf('one'), before, path), { throwIfNoEntry: false })
      return known?.ino === statSync(releasedPath(outDirOf('one'), after, path)).ino
    })
    expect(linked.length).toBeGreaterThan(IS_LONG ? 300 : 100)
  },
)

test('a build in another folder gives the same bytes', LONG, async () => {
  if (IS_LONG) {
    const place = cloneProject()
    expect((await build('afresh', place)).status).toBe(0)
    rmSync(place, { recursive: true })
  } else await buildData(envOf('afresh'))
  const [one, afresh] = [filesOf('one'), filesOf('afresh')]
  expect(afresh.size).toBeGreaterThan(200)
  if (IS_LONG) expect([...afresh.keys()].sort()).toEqual([...one.keys()].sort())
  // Rules for hosts name the pages.
  const isWhole = (name: string) => IS_LONG || !name.startsWith('deploy/')
  expect(
    [...afresh].flatMap(([name, bytes]) =>
      one.get(name) !== bytes && isWhole(name) ? [name] : [],
    ),
  ).toEqual([])
})

longTest(
  'a build makes a damaged release again, under another name while the damaged one is served',
  LONG,
  async () => {
    const name = currentOf(outDirOf('one'))
    const whole = filesOf('one')
    truncateSync(releasedPath(outDirOf('one'), name, 'public/docs/index.html'), 10)
    rmSync(releasedPath(outDirOf('one'), name, 'public/listing/x402.weather'), { recursive: true })
    expect((await build('one')).stdout).toContain('  pages\n')
    expect(currentOf(outDirOf('one'))).toBe(`${name}-2`)
    expect(filesOf('one')).toEqual(whole)
    expect(findRelease(outDirOf('one'), name)).toBe(`${name}-2`)
    expect((await build('one')).stdout).toContain('is current')
  },
)

test(
  'a build of bad content fails, says why, and leaves the release before it in place',
  LONG,
  async () => {
    const before = readlinkSync(join(outDirOf('one'), 'current'))
    const bad = join(content, 'listings/api/bad.md')
    writeFileSync(bad, '---js\n---\n')
    const failed = await runHere(() => buildData(envOf('one'), console.log))
    rmSync(bad)
    expect(failed.status).toBe(1)
    expect(failed.stdout).toContain('listings/api/bad.md:1')
    expect(failed.stderr).toContain('The content has errors, so nothing was built')
    expect(readlinkSync(join(outDirOf('one'), 'current'))).toBe(before)
  },
)

test('a server does not start over a release made for another address', async () => {
  await expect(
    startService({ OUT_DIR: outDirOf('one'), BASE_URL: 'https://other.example' }),
  ).rejects.toThrow('BASE_URL is https://other.example')
})
