import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import {
  cpSync,
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { isWhole } from '../../src/compile/release/is-whole.ts'
import { findDifferences, hashFolder } from '../bench/scale/hash-folder.ts'
import { createRandom } from '../bench/seeded-random.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import { EDITS } from '../support/random-edits.ts'

/**
 * Rounds of edits after the first, each a build upon the one before and a build from nothing. The
 * second is the first that takes over the folder of a release that is kept no longer.
 */
const ROUNDS = Number(process.env.ROUNDS ?? 2)

let root: string
let content: string
/** Begins with the release and caches that all tests share, as builds left them. */
let stepwise: string
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'waypost-incremental-'))
  content = join(root, 'content')
  stepwise = join(root, 'stepwise')
  cpSync(FIXTURE_ENV.CONTENT_DIR, content, { recursive: true })
  const asTheyAre = { recursive: true, verbatimSymlinks: true, preserveTimestamps: true }
  cpSync(FIXTURE_ENV.OUT_DIR, stepwise, asTheyAre)
  // Copied in any order, the one that is linked from could be taken for the oldest, and go.
  const releases = join(stepwise, 'releases')
  for (const name of readdirSync(releases))
    if (name !== basename(currentOf(stepwise))) rmSync(join(releases, name), { recursive: true })
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

const currentOf = (outDir: string) => realpathSync(join(outDir, 'current'))

/** What a build from nothing makes of the content; the bundled code of pages is not content's. */
function buildAfresh(): string {
  const outDir = join(root, 'afresh')
  rmSync(outDir, { recursive: true, force: true })
  cpSync(join(stepwise, 'cache/page-bundle'), join(outDir, 'cache/page-bundle'), {
    recursive: true,
  })
  build(outDir)
  return currentOf(outDir)
}

function expectSame(): void {
  const [one, other] = [currentOf(stepwise), buildAfresh()]
  expect(findDifferences(hashFolder(one), hashFolder(other))).toEqual([])
  const foldersOf = (dir: string) =>
    readdirSync(dir, { recursive: true, withFileTypes: true }).filter((entry) =>
      entry.isDirectory(),
    ).length
  expect(foldersOf(one)).toBe(foldersOf(other))
}

const editAll = (seed: number, names: readonly string[]) => {
  const random = createRandom(seed)
  for (const name of names) EDITS[name]?.(content, random)
}

const isLinked = (file: string) => statSync(join(currentOf(stepwise), file)).nlink > 1

test('a build upon another, with listings changed, added and removed and evidence changed, gives the bytes of one from nothing', {
  timeout: 300_000,
}, () => {
  const before = hashFolder(currentOf(stepwise))
  editAll(1, [
    'a changed summary',
    'a longer description',
    'an added listing',
    'a removed listing',
    'changed evidence',
  ])
  build(stepwise)
  expectSame()
  // Of the hundreds of files of the release before, most are still its own.
  const after = hashFolder(currentOf(stepwise)).hashes
  const same = [...after].filter(
    ([file, hash]) => file.startsWith('public/') && before.hashes.get(file) === hash,
  )
  expect(same.length).toBeGreaterThan(100)
  expect(same.filter(([file]) => !isLinked(file))).toEqual([])
})

test('a build upon another gives the bytes of one from nothing, whatever table changed and whatever of the caches and the release before is damaged', {
  timeout: 300_000,
}, () => {
  for (const [file, at] of [
    ['current/public/listing/x402.weather/index.html', 0.5],
    ['current/public/api/v1/listings/x402.weather/index.json.gz', 0.9],
    ['current/public/pagefind/0/pagefind-entry.json', 0.5],
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
    const spare = join(stepwise, 'releases/.spare/public')
    const taken = existsSync(spare) ? statSync(spare).ino : null
    if (taken !== null) {
      damage(join(spare, 'listing/x402.weather/index.html'), 0.3)
      rmSync(join(spare, 'api/v1/listings/x402.weather'), { recursive: true })
    }
    // A build that was killed while it wrote, or a disk that was full.
    const cut = join(stepwise, 'cache', random.pick(['listings', 'parts', 'listings.index']))
    truncateSync(cut, Math.floor(statSync(cut).size * 0.6))
    build(stepwise)
    const folder = statSync(join(currentOf(stepwise), 'public')).ino
    expect(folder === taken).toBe(round > 1)
    expectSame()
  }
})

test('a build upon another that is killed at any stage leaves a whole release, and the next one is as from nothing', {
  timeout: 300_000,
}, async () => {
  for (const [seed, stage] of ['read', 'carry over', 'pages', 'compress', 'manifest'].entries()) {
    editAll(3000 + seed, ['a changed summary', 'an added listing'])
    await killAfter(stage)
    const current = currentOf(stepwise)
    const [name = ''] = basename(current).split('.')
    expect(isWhole(current, name, 'bytes'), stage).toBe(true)
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
