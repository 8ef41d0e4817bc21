import { type ChildProcess, spawn } from 'node:child_process'
import { FIXTURE_ENV } from './fixture-env.ts'

const FIXTURE = 'the build of the fixtures'

/**
 * What `npm test` asks of the code before its tests, two checks at a time: each takes one core. First
 * is what may have to be fetched, then what takes longest. All are run, so that one run tells
 * everything that is wrong.
 */
const CHECKS = ['browser', 'payments', 'types:pages', FIXTURE, 'types', 'check', 'lint', 'dead']
const AT_ONCE = 2

const left = [...CHECKS]
const failed: string[] = []

async function work(): Promise<void> {
  for (let check = left.shift(); check !== undefined; check = left.shift())
    if ((await run(check)) !== 0) failed.push(check)
}

function run(check: string): Promise<number> {
  return new Promise((resolve, reject) => {
    const child = check === FIXTURE ? buildFixture() : start('npm', ['run', '-s', check])
    child.once('error', reject)
    // One that was killed has no code.
    child.once('exit', (code) => resolve(code ?? 1))
  })
}

/** The release that all tests share: they find it there, and wait for none of it. */
function buildFixture(): ChildProcess {
  return start(process.execPath, ['functions/commands/build.ts'], FIXTURE_ENV)
}

function start(command: string, args: readonly string[], env: object = {}): ChildProcess {
  return spawn(command, args, { stdio: 'inherit', env: { ...process.env, ...env } })
}

await Promise.all(Array.from({ length: AT_ONCE }, work))
if (failed.length > 0) {
  console.error(`Failed: ${failed.join(', ')}`)
  process.exitCode = 1
}
