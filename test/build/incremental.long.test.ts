import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, rmSync, truncateSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findRelease } from '../../src/build/folder.ts'
import { FIXTURE_ENV } from '../support/fixture-env.ts'
import {
  copyFixture,
  currentOf,
  hashCurrentFiles,
  hashOwnFiles,
  releasedPath,
} from '../support/fixture-release.ts'
import { createDraws } from '../support/random.ts'
import { EDITS } from '../support/random-edits.ts'

/** Rounds of edits after the first, each a build upon the one before and a build from nothing. */
const ROUNDS = Number(process.env.ROUNDS ?? 2)
/** Builds that are killed, each at another moment. */
const KILLS = Number(process.env.KILLS ?? 60)
/** About as long as one takes (milliseconds). */
const A_BUILD = 8000

let root: string
let content: string
/** Begins with the release that all tests share, as a build left it. */
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
  expect(`${built.stdout}${built.stderr}`).toContain('  pages\n')
}

/** A build upon another has what one from nothing has, and beside it the hashed files of the releases that stay. */
function expectSame(): void {
  const outDir = join(root, 'afresh')
  rmSync(outDir, { recursive: true, force: true })
  build(outDir)
  expect(hashOwnFiles(stepwise)).toEqual(hashOwnFiles(outDir))
}

const editAll = (seed: number, names: readonly string[]) => {
  const random = createDraws(seed)
  for (const name of names) EDITS[name]?.(content, random)
}

test('a build over a release that was damaged gives the bytes of one from nothing, whatever table changed', {
  timeout: 300_000,
}, () => {
  for (const path of [
    'public/listing/x402.weather/index.html',
    'public/api/v1/listings/x402.weather/index.json',
    'data/pages.json',
  ])
    truncateSync(releasedPath(stepwise, currentOf(stepwise), path), 3)
  editAll(2, ['a changed banner'])
  build(stepwise)
  expectSame()
})

test('so it does after any small edits', { timeout: 300_000 * ROUNDS }, () => {
  for (let round = 1; round <= ROUNDS; round++) {
    const random = createDraws(100 + round)
    const names = Array.from({ length: 1 + random.below(4) }, () => random.pick(Object.keys(EDITS)))
    editAll(1000 + round, ['a changed table', ...names])
    build(stepwise)
    expectSame()
  }
})

test('a build that is killed at any moment, with all its processes, leaves a whole release, and the next one is as from nothing', {
  timeout: 300_000 + KILLS * 30_000,
}, async () => {
  const random = createDraws(3000)
  for (let kill = 0; kill < KILLS; kill += 1) {
    editAll(3000 + kill, [
      'a changed summary',
      kill % 4 === 0 ? 'an added listing' : 'a changed name',
    ])
    const before = { name: currentOf(stepwise), files: hashCurrentFiles(stepwise) }
    const options = { env: envOf(stepwise), stdio: 'ignore', detached: true } as const
    const child = spawn(process.execPath, COMMAND, options)
    const ended = once(child, 'exit')
    await sleep((A_BUILD * (kill + random.below(100) / 100)) / KILLS)
    if (child.exitCode === null && child.pid !== undefined) process.kill(-child.pid, 'SIGKILL')
    await ended
    const current = currentOf(stepwise)
    expect(findRelease(stepwise, current.replace(/-\d+$/, ''))).toBe(current)
    if (current === before.name) expect(hashCurrentFiles(stepwise)).toEqual(before.files)
  }
  editAll(3100, ['a longer description'])
  build(stepwise)
  expectSame()
  expect(readdirSync(join(stepwise, 'releases'))).toHaveLength(3)
  expect(readdirSync(stepwise).sort()).toEqual(['build.lock', 'changes', 'current', 'releases'])
})
