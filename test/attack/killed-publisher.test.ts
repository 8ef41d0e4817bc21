import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
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
import {
  createWorkDir,
  findRelease,
  publishRelease,
  readCurrent,
  removeLeftovers,
} from '../../src/compile/release/publish-release.ts'
import { writeSmallRelease } from '../support/small-release.ts'

const PUBLISHER = fileURLToPath(new URL('publisher.ts', import.meta.url))
const ROUNDS = Number(process.env.KILLS ?? 12)
const NAME = 'abcdef0123456789abcd'

let outDir: string
beforeEach(() => {
  outDir = mkdtempSync(join(tmpdir(), 'waypost-publish-'))
})
afterEach(() => rmSync(outDir, { recursive: true, force: true }))

/** Beside them lies one that was set aside for the next build. */
const releases = () =>
  readdirSync(join(outDir, 'releases'))
    .filter((name) => name !== '.spare')
    .sort()

function publish(): void {
  const work = createWorkDir(outDir, NAME)
  writeSmallRelease(work, NAME)
  publishRelease(outDir, NAME, work)
}

test('a publisher killed at any moment leaves a whole release being served', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const child = spawn(process.execPath, [PUBLISHER, outDir, NAME], {
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    await once(child.stdout, 'data')
    await sleep(round * 3)
    child.kill('SIGKILL')
    await once(child, 'exit')
    const serving = readCurrent(outDir)
    expect(serving).toMatch(NAME)
    expect(readFileSync(join(outDir, 'current/data/release.json'), 'utf8')).toContain(NAME)
    expect(findRelease(outDir, NAME, 'bytes')).not.toBeNull()
  }
  removeLeftovers(outDir)
  expect(releases().filter((folder) => folder.startsWith('.'))).toEqual([])
  expect(readdirSync(outDir).sort()).toEqual(['current', 'releases'])
}, 300_000)

test('what was published is never touched again, also by a release of the same name', () => {
  publish()
  const file = join(outDir, 'releases', NAME, 'public/page-1/index.html')
  const before = statSync(file)
  publish()
  expect(releases()).toEqual([NAME, `${NAME}.2`])
  expect(readCurrent(outDir)).toBe(`${NAME}.2`)
  expect([statSync(file).ino, statSync(file).mtimeMs]).toEqual([before.ino, before.mtimeMs])
})

test('two releases stay beside the one being served', () => {
  for (let count = 0; count < 5; count += 1) publish()
  expect(releases()).toHaveLength(3)
  expect(releases()).toContain(readCurrent(outDir))
})

test('a release with a file cut short is no release, and one beside it is found', () => {
  publish()
  expect(findRelease(outDir, NAME, 'bytes')).toBe(NAME)
  truncateSync(join(outDir, 'releases', NAME, 'public/page-3/index.html'), 3)
  expect(findRelease(outDir, NAME, 'bytes')).toBeNull()
  publish()
  expect(findRelease(outDir, NAME, 'bytes')).toBe(`${NAME}.2`)
})

test('a release with other bytes of the same length is whole to a quick look alone', () => {
  publish()
  const file = join(outDir, 'releases', NAME, 'public/page-3/index.html')
  const bytes = readFileSync(file)
  bytes[0] = (bytes[0] ?? 0) ^ 1
  writeFileSync(file, bytes)
  expect(findRelease(outDir, NAME, 'lengths')).toBe(NAME)
  expect(findRelease(outDir, NAME, 'bytes')).toBeNull()
})

test('a link that leads nowhere names no release', () => {
  expect(readCurrent(outDir)).toBeNull()
  symlinkSync('releases/gone', join(outDir, 'current'))
  expect(readCurrent(outDir)).toBeNull()
})

test('only what builds leave behind is removed, whatever else lies in the folder', () => {
  publish()
  createWorkDir(outDir, NAME)
  symlinkSync('releases/x', join(outDir, '.current'))
  for (const own of ['.git', '.env']) symlinkSync('/dev/null', join(outDir, own))
  removeLeftovers(outDir)
  expect(readdirSync(outDir).sort()).toEqual(['.env', '.git', 'current', 'releases'])
  expect(releases()).toEqual([NAME])
})
