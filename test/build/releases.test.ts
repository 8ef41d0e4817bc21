import { spawn, spawnSync } from 'node:child_process'
import { hash } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findRelease } from '../../src/build/folder.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import {
  copyFixture,
  copyRelease,
  currentOf,
  readCurrentFiles,
  releasedPath,
  switchRelease,
} from '../support/fixture-release.ts'
import { startService } from '../support/running-service.ts'

let root: string
let content: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'waypost-releases-'))
  content = join(root, 'content')
  cpSync(FIXTURE_ENV.CONTENT_DIR, content, { recursive: true })
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const outDirOf = (name: string) => join(root, name)

/** @param from folder of the project */
function build(name: string, from = '.') {
  return spawnSync(process.execPath, COMMAND, { env: envOf(name), cwd: from, encoding: 'utf8' })
}

const COMMAND = ['functions/commands/build.ts']
const envOf = (name: string) => ({
  ...process.env,
  ...FIXTURE_ENV,
  CONTENT_DIR: content,
  STATE_DIR: join(root, 'no-state'),
  OUT_DIR: outDirOf(name),
})

/** The digest of each file of the current release by path; those of the releases before are not its own. */
function filesOf(name: string): Map<string, string> {
  const own = readCurrentFiles(outDirOf(name)).filter(
    ({ path }) =>
      !/^release\.json$|^data\/pages\.json$|\/_astro\/|^public\/pagefind\/\d\/(?:fragment|index|filter)\//.test(
        path,
      ),
  )
  return new Map(own.map(({ path, bytes }) => [path, hash('sha256', bytes)]))
}

/** Hard links, so that every module has another address, those of packages too. */
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

describe('a build', () => {
  test('is left alone while nothing changed', { timeout: 300_000 }, () => {
    copyFixture(outDirOf('one'))
    expect(build('one').stdout).toContain('is current')
  })

  test('over an earlier release takes what did not change from it, and gives the same bytes as one from nothing in another folder', {
    timeout: 300_000,
  }, () => {
    const before = readlinkSync(join(outDirOf('one'), 'current'))
    const file = join(content, 'listings/api/open-parks.md')
    writeFileSync(
      file,
      readFileSync(file, 'utf8').replace('Free and without a key.', 'Free, and open at night.'),
    )
    expect(build('one').status).toBe(0)
    expect(readlinkSync(join(outDirOf('one'), 'current'))).not.toBe(before)
    const clone = cloneProject()
    expect(build('afresh', clone).status).toBe(0)
    rmSync(clone, { recursive: true })
    const [one, afresh] = [filesOf('one'), filesOf('afresh')]
    expect([...afresh.keys()].sort()).toEqual([...one.keys()].sort())
    expect(
      [...one].filter(([name, bytes]) => afresh.get(name) !== bytes).map(([name]) => name),
    ).toEqual([])
  })

  test('makes a damaged release again, under another name while the damaged one is served', {
    timeout: 300_000,
  }, () => {
    const name = currentOf(outDirOf('one'))
    const whole = filesOf('one')
    truncateSync(releasedPath(outDirOf('one'), name, 'public/docs/index.html'), 10)
    rmSync(releasedPath(outDirOf('one'), name, 'public/listing/x402.weather'), { recursive: true })
    expect(build('one').stdout).toContain('  pages\n')
    expect(currentOf(outDirOf('one'))).toBe(`${name}-2`)
    expect(filesOf('one')).toEqual(whole)
    expect(findRelease(outDirOf('one'), name)).toBe(`${name}-2`)
    expect(build('one').stdout).toContain('is current')
  })

  test('of bad content fails, says why, and leaves the release before it in place', {
    timeout: 300_000,
  }, () => {
    const before = readlinkSync(join(outDirOf('one'), 'current'))
    const bad = join(content, 'listings/api/bad.md')
    writeFileSync(bad, '---js\n---\n')
    const failed = build('one')
    rmSync(bad)
    expect(failed.status).toBe(1)
    expect(failed.stdout).toContain('listings/api/bad.md:1')
    expect(readlinkSync(join(outDirOf('one'), 'current'))).toBe(before)
  })
})

describe('a running server', () => {
  test('takes a new release without failing a request, and refuses a damaged one', {
    timeout: 300_000,
  }, async () => {
    cpSync(outDirOf('one'), outDirOf('served'), { recursive: true, verbatimSymlinks: true })
    const waypost = await startService({ OUT_DIR: outDirOf('served'), CONTENT_DIR: content })
    const find = async () =>
      (await (await fetch(`${waypost.url}/api/v1/search?q=lighthouse`)).json()).total
    try {
      expect(await find()).toBe(0)
      const listing = readFileSync(join(content, 'listings/mcp/harbour.md'), 'utf8')
      writeFileSync(
        join(content, 'listings/mcp/lighthouse.md'),
        listing.replace('name: Harbour', 'name: Lighthouse'),
      )
      const statuses = new Set<number>()
      let isBuilding = true
      const asking = (async () => {
        while (isBuilding) {
          statuses.add((await fetch(`${waypost.url}/api/v1/search?q=harbour`)).status)
          statuses.add((await fetch(`${waypost.url}/api/v1/listings/mcp.harbour`)).status)
          await waypost.service.refresh()
          await new Promise((resolve) => setTimeout(resolve, 5))
        }
      })()
      const child = spawn(process.execPath, COMMAND, { env: envOf('served'), stdio: 'ignore' })
      expect((await once(child, 'exit'))[0]).toBe(0)
      await waypost.service.refresh()
      isBuilding = false
      await asking
      expect([...statuses]).toEqual([200])
      expect(await find()).toBe(1)

      const serving = currentOf(outDirOf('served'))
      copyRelease(outDirOf('served'), 'damaged')
      truncateSync(releasedPath(outDirOf('served'), 'damaged', 'data/search.index'), 500)
      switchRelease(outDirOf('served'), 'damaged')
      await waypost.service.refresh()
      expect(await find()).toBe(1)
      expect(waypost.log.join('')).toContain('release.refused')
      switchRelease(outDirOf('served'), serving)
    } finally {
      await waypost.close()
    }
  })

  test('does not start over a release made for another address', async () => {
    await expect(
      startService({ OUT_DIR: outDirOf('one'), BASE_URL: 'https://other.example' }),
    ).rejects.toThrow('BASE_URL is https://other.example')
  })
})
