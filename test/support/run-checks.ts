import { spawn } from 'node:child_process'
import { resolve } from 'node:path'
import { BUILD_ENV } from './fixture-env.ts'

/**
 * `npm test`: the release that all tests share is built, and a browser fetched where there is none,
 * beside it. Then come the tests, which wait a third of their time. What is asked of the code itself runs
 * beside all that, one check after the other. All are run, so that one run tells everything that is wrong.
 */
const FIXTURES = 'the build of the fixtures'
const CHECKS = ['types', 'lint', 'check', 'dead']

/**
 * The compiler is a Go program, which takes a fifth less time where it collects garbage less often. What one
 * process compiled of JavaScript, the next ones read: a check takes a sixth less.
 */
const LAZY = { GOGC: '300', NODE_COMPILE_CACHE: resolve('.cache/code') }

const failed: string[] = []

const fetched = inTurn(['browser'])
const checked = inTurn(CHECKS)
const built = runCommand(FIXTURES, process.execPath, ['functions/commands/build.ts'])
await Promise.all([fetched, built])
// Nobody need look again whether it is current.
if (!failed.includes(FIXTURES)) process.env.FIXTURES_ARE_BUILT = 'yes'
await Promise.all([checked, runCommand('the tests', 'vitest', ['run'], 'inherit')])
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}`)
  process.exitCode = 1
}

async function inTurn(names: readonly string[]): Promise<void> {
  for (const name of names) await runCommand(name, 'npm', ['run', '-s', name])
}

/** What a check prints comes at its end, and whole: the tests print meanwhile. */
async function runCommand(
  name: string,
  command: string,
  args: readonly string[],
  stdio: 'pipe' | 'inherit' = 'pipe',
): Promise<void> {
  const child = spawn(command, args, {
    stdio: ['inherit', stdio, stdio],
    env: { ...process.env, ...LAZY, ...(command === process.execPath && BUILD_ENV) },
  })
  let output = ''
  for (const stream of [child.stdout, child.stderr])
    stream?.on('data', (bytes) => {
      output += bytes
    })
  // One that was killed has no code.
  const code = await new Promise<number | null>((done, reject) => {
    child.once('error', reject)
    child.once('close', done)
  })
  if (code === 0) return
  failed.push(name)
  console.error(`\n${name}:\n${output}`)
}
