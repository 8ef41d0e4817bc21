import { spawnSync } from 'node:child_process'
import {
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
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
  const env = {
    ...process.env,
    ...FIXTURE_ENV,
    CONTENT_DIR: content,
    STATE_DIR: join(root, 'no-state'),
    OUT_DIR: outDirOf(name),
  }
  return spawnSync(process.execPath, ['functions/commands/build.ts'], {
    env,
    cwd: from,
    encoding: 'utf8',
  })
}

function filesOf(name: string): Map<string, string> {
  const dir = join(outDirOf(name), 'current')
  const files = readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return new Map(
    files
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file.slice(dir.length), readFileSync(file, 'base64')]),
  )
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
    expect(build('one').status).toBe(0)
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
    const linksOf = (file: string) => statSync(join(outDirOf('one'), 'current/public', file)).nlink
    expect(linksOf('listing/x402.weather/index.html.br')).toBe(2)
    expect(linksOf('listing/api.open-parks/index.html.br')).toBe(1)
  })

  test('makes a release again whose bytes changed, though not how many, and links no damaged copy', {
    timeout: 300_000,
  }, () => {
    const before = readlinkSync(join(outDirOf('one'), 'current'))
    const whole = filesOf('one')
    const damaged = join(outDirOf('one'), before, 'public/listing/x402.weather/index.html.br')
    const bytes = readFileSync(damaged)
    bytes.fill(0, bytes.length >> 1)
    writeFileSync(damaged, bytes)
    expect(build('one').stdout).toContain(' built in ')
    expect(readlinkSync(join(outDirOf('one'), 'current'))).toBe(`${before}.2`)
    expect(filesOf('one')).toEqual(whole)
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
      expect(build('served').status).toBe(0)
      await waypost.service.refresh()
      isBuilding = false
      await asking
      expect([...statuses]).toEqual([200])
      expect(await find()).toBe(1)

      const serving = readlinkSync(join(outDirOf('served'), 'current'))
      const damaged = `${serving}.damaged`
      cpSync(join(outDirOf('served'), serving), join(outDirOf('served'), damaged), {
        recursive: true,
      })
      truncateSync(join(outDirOf('served'), damaged, 'data/search.index'), 500)
      switchLink(outDirOf('served'), damaged)
      await waypost.service.refresh()
      expect(await find()).toBe(1)
      expect(waypost.log.join('')).toContain('release.refused')
      switchLink(outDirOf('served'), serving)
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

function switchLink(outDir: string, target: string): void {
  const moved = spawnSync('ln', ['-sfn', target, join(outDir, 'current')])
  if (moved.status !== 0) throw new Error('the link could not be switched')
}
