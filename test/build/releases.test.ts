import { spawnSync } from 'node:child_process'
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { openObjects } from '../../src/store/objects.ts'
import { readReleaseFile, readReleaseList } from '../../src/store/release-list.ts'
import { findObjects, putRelease, readCurrent, switchTo } from '../../src/store/releases.ts'
import { hashFolder } from '../bench/scale/hash-folder.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { copyFixture, releasedPath } from '../support/fixture-release.ts'
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
function build(name: string, from = '.', options: readonly string[] = []) {
  const env = {
    ...process.env,
    ...FIXTURE_ENV,
    CONTENT_DIR: content,
    STATE_DIR: join(root, 'no-state'),
    OUT_DIR: outDirOf(name),
  }
  return spawnSync(process.execPath, ['functions/commands/build.ts', ...options], {
    env,
    cwd: from,
    encoding: 'utf8',
  })
}

/** What a release lists, and what the plain folders hold, by path. */
function filesOf(name: string): Map<string, string> {
  const outDir = outDirOf(name)
  const listed = readReleaseList(outDir, readCurrent(outDir) ?? '')
  const shown = ['public', 'deploy', 'functions'].flatMap((folder) => [
    ...hashFolder(join(outDir, folder)).hashes,
  ])
  return new Map([...listed.map(({ path, digest }): [string, string] => [path, digest]), ...shown])
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

  test('makes a damaged object again, and what a person did to the plain folder', {
    timeout: 300_000,
  }, () => {
    const name = readCurrent(outDirOf('one')) ?? ''
    const whole = filesOf('one')
    const damaged = releasedPath(outDirOf('one'), name, 'public/listing/x402.weather/index.html')
    const bytes = readFileSync(damaged)
    bytes.fill(0, bytes.length >> 1)
    writeFileSync(damaged, bytes)
    truncateSync(join(outDirOf('one'), 'public/docs/index.html'), 10)
    rmSync(join(outDirOf('one'), 'public/listing/x402.weather'), { recursive: true })
    expect(build('one').stdout).toContain(' built in ')
    expect(readCurrent(outDirOf('one'))).toBe(name)
    expect(filesOf('one')).toEqual(whole)
    expect(findObjects(outDirOf('one'), name, 'bytes')?.isComplete).toBe(true)
    expect(build('one').stdout).toContain('is current')
  })

  test('makes the plain folder again that a killed build left half done', {
    timeout: 300_000,
  }, () => {
    const whole = filesOf('one')
    const folder = join(outDirOf('one'), 'public')
    rmSync(join(outDirOf('one'), '.laid-out'))
    writeFileSync(join(folder, 'docs/index.html'), 'of another release')
    mkdirSync(join(folder, 'listing/mcp.gone'))
    writeFileSync(join(folder, 'listing/mcp.gone/index.html.br'), 'gone')
    expect(build('one').stdout).toContain('is current')
    expect(filesOf('one')).toEqual(whole)
    expect(readdirSync(join(folder, 'listing'))).not.toContain('mcp.gone')
  })

  test('keeps no plain folder where it is told so', { timeout: 300_000 }, () => {
    cpSync(outDirOf('one'), outDirOf('bare'), { recursive: true, verbatimSymlinks: true })
    for (const folder of ['public', 'deploy', 'functions'])
      rmSync(join(outDirOf('bare'), folder), { recursive: true })
    expect(build('bare', '.', ['--no-public']).stdout).toContain('is current')
    expect(existsSync(join(outDirOf('bare'), 'public'))).toBe(false)
    expect(build('bare').status).toBe(0)
    expect(filesOf('bare')).toEqual(filesOf('one'))
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
      expect(build('served').status).toBe(0)
      await waypost.service.refresh()
      isBuilding = false
      await asking
      expect([...statuses]).toEqual([200])
      expect(await find()).toBe(1)

      const serving = readCurrent(outDirOf('served')) ?? ''
      const index = readFileSync(releasedPath(outDirOf('served'), serving, 'data/search.index'))
      placeDamaged(outDirOf('served'), serving, index.subarray(0, 500))
      switchTo(outDirOf('served'), 'damaged')
      await waypost.service.refresh()
      expect(await find()).toBe(1)
      expect(waypost.log.join('')).toContain('release.refused')
      switchTo(outDirOf('served'), serving)
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

/** The same release with another index. */
function placeDamaged(outDir: string, name: string, index: Uint8Array): void {
  const objects = openObjects(outDir, new Set())
  const files = readReleaseList(outDir, name).map((file) =>
    file.path === 'data/search.index' ? { path: file.path, ...objects.put(index) } : file,
  )
  const { list: _list, ...release } = readReleaseFile(outDir, name)
  putRelease(outDir, objects, { ...release, name: 'damaged' }, files)
}
