import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { findRelease, readCurrent, removeLeftovers } from '../../src/build/folder.ts'
import { releasedPath } from '../support/fixture-release.ts'
import { IS_LONG } from '../support/long.ts'
import { publishSmallRelease } from '../support/small-release.ts'

const PUBLISHER = fileURLToPath(new URL('publisher.ts', import.meta.url))
const SMALL_RELEASE = new URL('../support/small-release.ts', import.meta.url).href
const ROUNDS = Number(process.env.KILLS ?? (IS_LONG ? 60 : 3))
const PAGE = 'public/page-3/index.html'

let outDir: string
beforeEach(() => {
  outDir = mkdtempSync(join(tmpdir(), 'waypost-publish-'))
})
afterEach(() => rmSync(outDir, { recursive: true, force: true }))

const releases = () => readdirSync(join(outDir, 'releases')).sort()
const inodeOf = (name: string, path: string) => statSync(releasedPath(outDir, name, path)).ino

test('a publisher killed at any moment leaves a whole release being served', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = spawn(process.execPath, [PUBLISHER, outDir, `one-${round}`, `other-${round}`], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await sleep((round % 20) * 3)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const serving = readCurrent(outDir)
    expect(serving).toMatch(/^(?:one|other)-/)
    expect(findRelease(outDir, serving ?? '')).toBe(serving)
  }
  removeLeftovers(outDir)
  await publishSmallRelease(outDir, 'last')
  expect(releases()).toHaveLength(3)
  expect(readdirSync(outDir).filter((name) => name.startsWith('.'))).toEqual([])
}, 300_000)

test('a disk that takes no more of a file leaves the release before it being served', async () => {
  await publishSmallRelease(outDir, 'one')
  const given = JSON.stringify([outDir, 'two', { [PAGE]: 'x'.repeat(1e5) }]).slice(1, -1)
  const code = `import('${SMALL_RELEASE}').then((it) => it.publishSmallRelease(${given}))`
  const shell = 'ulimit -f 50; exec "$0" --eval "$1"'
  const { status, stderr } = spawnSync('bash', ['-c', shell, process.execPath, code], {
    encoding: 'utf8',
  })
  expect(status).not.toBe(0)
  expect(stderr).toContain('EFBIG')
  expect(readCurrent(outDir)).toBe('one')
  expect(findRelease(outDir, 'one')).toBe('one')
  removeLeftovers(outDir)
  expect(releases()).toEqual(['one'])
})

test('a file with the same bytes, and its compressed copies, is linked and not written again', async () => {
  const same = { [PAGE]: 'the same words '.repeat(200) }
  await publishSmallRelease(outDir, 'one', same)
  await publishSmallRelease(outDir, 'two', same)
  for (const path of [PAGE, `${PAGE}.br`, `${PAGE}.gz`, 'data/search.index'])
    expect(inodeOf('two', path), path).toBe(inodeOf('one', path))
  const other = 'public/page-4/index.html'
  expect(inodeOf('two', other)).not.toBe(inodeOf('one', other))
})

test('two releases stay beside the one being served; an old one has no name while it is removed', async () => {
  for (const name of ['1', '2', '3', '4']) await publishSmallRelease(outDir, name)
  const seen = new Set<string | null>()
  const watcher = watch(join(outDir, 'releases'), (_, name) => void seen.add(name))
  await publishSmallRelease(outDir, '5')
  expect(releases()).toEqual(['3', '4', '5'])
  expect(readCurrent(outDir)).toBe('5')
  await expect.poll(() => seen).toContain('.next-2')
  watcher.close()
})

test('hashed files of the releases that stay are in the new one too, and go with them', async () => {
  const styles = (name: string) => `public/_astro/page.${name}.css`
  for (const name of ['1', '2', '3', '4', '5'])
    await publishSmallRelease(outDir, name, {
      [styles(name)]: `body { order: ${name} } `.repeat(90),
    })
  const found = ['1', '2', '3', '4', '5'].filter((name) =>
    existsSync(releasedPath(outDir, '5', styles(name))),
  )
  expect(found).toEqual(['3', '4', '5'])
  expect(existsSync(releasedPath(outDir, '5', `${styles('3')}.br`))).toBe(true)
})

test.each([
  ['a page that is cut short', (path: string) => truncateSync(path, 3), PAGE],
  ['a page that is gone', (path: string) => rmSync(path), PAGE],
  ['a compressed copy that is gone', (path: string) => rmSync(path), `${PAGE}.gz`],
  ['rows with another byte', (path: string) => writeFileSync(path, '{}'), 'data/listings.ndjson'],
])('a release with %s is not whole', async (_, damage, path) => {
  await publishSmallRelease(outDir, 'one')
  expect(findRelease(outDir, 'one')).toBe('one')
  damage(releasedPath(outDir, 'one', path))
  expect(findRelease(outDir, 'one')).toBeNull()
})

test('a link that leads nowhere names no release', () => {
  expect(readCurrent(outDir)).toBeNull()
  symlinkSync('releases/gone', join(outDir, 'current'))
  expect(readCurrent(outDir)).toBeNull()
})

test('only what builds leave behind is removed, whatever else lies in the folder', async () => {
  await publishSmallRelease(outDir, 'one')
  mkdirSync(join(outDir, 'releases/.next-two'))
  symlinkSync('releases/x', join(outDir, '.current'))
  mkdirSync(join(outDir, 'mine'))
  for (const own of ['.git', '.env']) symlinkSync('/dev/null', join(outDir, own))
  removeLeftovers(outDir)
  expect(readdirSync(outDir).sort()).toEqual(
    ['.env', '.git', 'changes', 'current', 'mine', 'releases']
      .sort()
      .filter((name) => name !== 'changes' || existsSync(join(outDir, 'changes'))),
  )
  expect(releases()).toEqual(['one'])
  expect(readFileSync(releasedPath(outDir, 'one', PAGE), 'utf8')).toContain('one')
})
