import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { objectPath } from '../../src/store/objects.ts'
import { type ListedFile, readReleaseList } from '../../src/store/release-list.ts'
import { findObjects, readCurrent } from '../../src/store/releases.ts'
import { findDifferences, hashFolder } from '../bench/scale/hash-folder.ts'
import { createRandom } from '../bench/seeded-random.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { copyFixture, copyPageCode, releasedPath } from '../support/fixture-release.ts'
import { EDITS } from '../support/random-edits.ts'

/** Rounds of edits after the first, each a build upon the one before and a build from nothing. */
const ROUNDS = Number(process.env.ROUNDS ?? 1)

let root: string
let content: string
/** Begins with the release and caches that all tests share, as builds left them. */
let stepwise: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'waypost-incremental-'))
  content = join(root, 'content')
  stepwise = join(root, 'stepwise')
  cpSync(FIXTURE_ENV.CONTENT_DIR, content, { recursive: true })
  copyFixture(stepwise)
})
afterAll(() => rmSync(root, { recursive: true, force: true }))

const COMMAND = ['functions/commands/build.ts']
const envOf = (outDir: string) => ({
  ...process.env,
  ...FIXTURE_ENV,
  CONTENT_DIR: content,
  OUT_DIR: outDir,
})

function build(outDir: string): void {
  const built = spawnSync(process.execPath, COMMAND, { env: envOf(outDir), encoding: 'utf8' })
  expect(`${built.stdout}${built.stderr}`).toContain(' built in ')
}

const listOf = (outDir: string) => readReleaseList(outDir, readCurrent(outDir) ?? '')

/** What a build from nothing makes of the content; the bundled code of pages is not content's. */
function buildAfresh(): string {
  const outDir = join(root, 'afresh')
  rmSync(outDir, { recursive: true, force: true })
  copyPageCode(outDir)
  build(outDir)
  return outDir
}

function expectSame(): void {
  const afresh = buildAfresh()
  expect(listOf(stepwise)).toEqual(listOf(afresh))
  for (const folder of ['public', 'deploy', 'functions']) {
    const [one, other] = [join(stepwise, folder), join(afresh, folder)]
    expect(findDifferences(hashFolder(one), hashFolder(other))).toEqual([])
    expect(countFolders(one)).toBe(countFolders(other))
  }
}

const countFolders = (dir: string) =>
  readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isDirectory())
    .length

const editAll = (seed: number, names: readonly string[]) => {
  const random = createRandom(seed)
  for (const name of names) EDITS[name]?.(content, random)
}

test('a build upon another, with listings changed, added and removed and evidence changed, gives the bytes of one from nothing', {
  timeout: 300_000,
}, () => {
  const timeOf = ({ digest }: ListedFile) => statSync(objectPath(stepwise, digest)).mtimeMs
  const before = new Map(listOf(stepwise).map((file) => [file.digest, timeOf(file)]))
  editAll(1, [
    'a changed summary',
    'a longer description',
    'an added listing',
    'a removed listing',
    'changed evidence',
  ])
  build(stepwise)
  expectSame()
  // Of the hundreds of objects of the release before, none was written again.
  const same = listOf(stepwise).filter(({ digest }) => before.has(digest))
  expect(same.length).toBeGreaterThan(100)
  expect(same.filter((file) => before.get(file.digest) !== timeOf(file))).toEqual([])
})

test('a build upon another gives the bytes of one from nothing, whatever table changed and whatever of the caches and the release before is damaged', {
  timeout: 300_000,
}, () => {
  const name = readCurrent(stepwise) ?? ''
  for (const path of [
    'public/listing/x402.weather/index.html',
    'public/api/v1/listings/x402.weather/index.json',
    'public/pagefind/0/pagefind-entry.json',
  ])
    truncateSync(releasedPath(stepwise, name, path), 3)
  for (const [file, at] of [
    ['cache/listings', 0.7],
    ['cache/parts', 0.5],
    ['cache/listings.index', 0.2],
    ['cache/operations.index', 0.9],
  ] as const)
    damage(join(stepwise, file), at)
  editAll(2, ['a changed banner'])
  build(stepwise)
  expectSame()
})

test('so it does after any small edits', { timeout: 300_000 * ROUNDS }, () => {
  for (let round = 1; round <= ROUNDS; round++) {
    const random = createRandom(100 + round)
    const names = Array.from({ length: 1 + random.below(4) }, () => random.pick(Object.keys(EDITS)))
    editAll(1000 + round, ['a changed table', ...names])
    // A build that was killed while it wrote, or a disk that was full.
    const cut = join(stepwise, 'cache', random.pick(['listings', 'parts', 'listings.index']))
    truncateSync(cut, Math.floor(statSync(cut).size * 0.6))
    build(stepwise)
    expectSame()
  }
})

test('a build upon another that is killed at any stage leaves a whole release, and the next one is as from nothing', {
  timeout: 300_000,
}, async () => {
  for (const [seed, stage] of ['read', 'pages', 'publish'].entries()) {
    editAll(3000 + seed, ['a changed summary', 'an added listing'])
    await killAfter(stage)
    expect(findObjects(stepwise, readCurrent(stepwise), 'bytes')?.isComplete, stage).toBe(true)
  }
  // The last may have been published before it was killed.
  editAll(3100, ['a longer description'])
  build(stepwise)
  expectSame()
})

async function killAfter(stage: string): Promise<void> {
  const child = spawn(process.execPath, COMMAND, { env: envOf(stepwise) })
  let output = ''
  child.stdout.on('data', (text) => {
    output += text
    if (output.includes(` CPU  ${stage}`)) child.kill('SIGKILL')
  })
  await once(child, 'exit')
}

/** Another byte in the same place, as a disk might; the release is nobody else's. */
function damage(path: string, at: number): void {
  const bytes = readFileSync(path)
  const place = Math.floor(bytes.length * at)
  bytes[place] = (bytes[place] ?? 0) ^ 1
  writeFileSync(path, bytes)
}
