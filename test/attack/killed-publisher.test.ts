import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openObjects } from '../../src/store/objects.ts'
import { findObjects, readCurrent, removeLeftovers } from '../../src/store/releases.ts'
import { releasedPath } from '../support/fixture-release.ts'
import { publishSmallRelease } from '../support/small-release.ts'

const PUBLISHER = fileURLToPath(new URL('publisher.ts', import.meta.url))
const ROUNDS = Number(process.env.KILLS ?? 5)
const [NAME, OTHER] = ['abcdef0123456789abcd', 'b'.repeat(20)] as const
const PAGE = 'public/page-3/index.html'

let outDir: string
beforeEach(() => {
  outDir = mkdtempSync(join(tmpdir(), 'waypost-publish-'))
})
afterEach(() => rmSync(outDir, { recursive: true, force: true }))

const releases = () => readdirSync(join(outDir, 'releases')).sort()
const objects = () =>
  readdirSync(join(outDir, 'objects'), { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ name }) => name)

test('a publisher killed at any moment leaves a whole release being served', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = spawn(process.execPath, [PUBLISHER, outDir, NAME, OTHER], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await sleep(round * 3)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const serving = readCurrent(outDir)
    expect([NAME, OTHER]).toContain(serving)
    expect(readFileSync(join(outDir, 'current'), 'utf8')).toContain(serving)
    expect(findObjects(outDir, serving, 'bytes')?.isComplete).toBe(true)
  }
  removeLeftovers(outDir)
  expect(releases().filter((name) => name.startsWith('.'))).toEqual([])
  expect(readdirSync(outDir).sort()).toEqual(['current', 'objects', 'releases', 'server'])
}, 300_000)

test('an object that a release names is not written again by the next one', () => {
  publishSmallRelease(outDir, NAME)
  const file = releasedPath(outDir, NAME, 'data/search.index')
  const before = statSync(file)
  const known = findObjects(outDir, NAME, 'lengths')?.sound ?? new Set()
  openObjects(outDir, known).put('index')
  expect([statSync(file).ino, statSync(file).mtimeMs]).toEqual([before.ino, before.mtimeMs])
})

test('two releases stay beside the one being served, and no object of any other', () => {
  const names = ['1', '2', '3', '4', '5'].map((digit) => digit.repeat(20))
  for (const name of names) publishSmallRelease(outDir, name)
  expect(releases()).toHaveLength(3)
  expect(releases()).toContain(readCurrent(outDir))
  const named = new Set(
    releases().flatMap((name) => [...(findObjects(outDir, name, 'bytes')?.sound ?? [])]),
  )
  expect(objects().toSorted()).toEqual([...named].sort())
})

test('what is left of a run that was killed goes with the next publication', () => {
  publishSmallRelease(outDir, NAME)
  const { digest } = openObjects(outDir, new Set()).put('an object that no release names')
  expect(objects()).toContain(digest)
  publishSmallRelease(outDir, OTHER)
  expect(objects()).not.toContain(digest)
})

test('a release with an object cut short is not complete, and its other objects are known', () => {
  publishSmallRelease(outDir, NAME)
  expect(findObjects(outDir, NAME, 'bytes')?.isComplete).toBe(true)
  truncateSync(releasedPath(outDir, NAME, PAGE), 3)
  const found = findObjects(outDir, NAME, 'lengths')
  expect(found?.isComplete).toBe(false)
  expect(found?.sound.size).toBe(objects().length - 1)
  publishSmallRelease(outDir, NAME)
  expect(findObjects(outDir, NAME, 'bytes')?.isComplete).toBe(true)
})

test('a release with other bytes of the same length is whole to a quick look alone', () => {
  publishSmallRelease(outDir, NAME)
  const file = releasedPath(outDir, NAME, PAGE)
  const bytes = readFileSync(file)
  bytes[0] = (bytes[0] ?? 0) ^ 1
  writeFileSync(file, bytes)
  expect(findObjects(outDir, NAME, 'lengths')?.isComplete).toBe(true)
  expect(findObjects(outDir, NAME, 'bytes')?.isComplete).toBe(false)
})

test('a link that leads nowhere names no release', () => {
  expect(readCurrent(outDir)).toBeNull()
  symlinkSync('releases/gone', join(outDir, 'current'))
  expect(readCurrent(outDir)).toBeNull()
})

test('only what builds leave behind is removed, whatever else lies in the folder', () => {
  publishSmallRelease(outDir, NAME)
  writeFileSync(join(outDir, 'objects/.next'), 'half')
  writeFileSync(join(outDir, `releases/.next-${NAME}`), 'half')
  symlinkSync('releases/x', join(outDir, '.current'))
  mkdirSync(join(outDir, 'mine'))
  for (const own of ['.git', '.env']) symlinkSync('/dev/null', join(outDir, own))
  removeLeftovers(outDir)
  expect(readdirSync(outDir).sort()).toEqual(
    ['.env', '.git', 'current', 'mine', 'objects', 'releases', 'server'].sort(),
  )
  expect(releases()).toEqual([NAME])
})
