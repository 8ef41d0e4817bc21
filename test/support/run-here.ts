import { vi } from 'vitest'
import { check } from '../../functions/commands/check.ts'
import { runMain } from '../../functions/ports/run-main.ts'
import { withEnv } from './own-env.ts'

/**
 * A command within this process, one after the other: starting Node with all of a command's modules takes
 * a second of a core, and what most tests ask a command takes a few milliseconds.
 *
 * @param env variables beside those of this process
 * @returns what the command would have ended with
 */
export function runHere(command: () => unknown, env: Readonly<Record<string, string>> = {}) {
  return withEnv(env, () =>
    run(async () => {
      await command()
    }),
  )
}

async function run(command: () => Promise<void>) {
  const stdout: string[] = []
  const stderr: string[] = []
  const log = vi.spyOn(console, 'log').mockImplementation((line) => void stdout.push(`${line}\n`))
  const fault = vi
    .spyOn(console, 'error')
    .mockImplementation((line) => void stderr.push(`${line}\n`))
  const before = process.exitCode
  process.exitCode = 0
  try {
    await runMain(command)
    return { status: process.exitCode, stdout: stdout.join(''), stderr: stderr.join('') }
  } finally {
    process.exitCode = before
    log.mockRestore()
    fault.mockRestore()
  }
}

/** `npm run check` within this process, in an environment of its own. */
export function checkHere(env: Readonly<Record<string, string>>, ...args: string[]) {
  return runHere(async () => {
    if (!(await check(args))) process.exitCode = 1
  }, env)
}
