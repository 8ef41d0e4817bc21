import { resolve } from 'node:path'
import { vi } from 'vitest'
import { runMain } from '../../functions/ports/run-main.ts'

/**
 * A command within this process: starting Node with all of a command's modules takes a second of a core,
 * and what most tests ask a command takes a few milliseconds.
 *
 * @returns what the command would have ended with
 */
export async function runHere(command: () => Promise<void> | void) {
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

let runs = 0

/**
 * A file of `functions/commands` within this process: it reads its arguments and environment as it is
 * loaded, so it is loaded anew; what it imports is not.
 */
export function runFileHere(
  name: string,
  env: Readonly<Record<string, string>>,
  args: readonly string[] = [],
) {
  return runHere(async () => {
    const before = { env: { ...process.env }, argv: process.argv }
    Object.assign(process.env, env)
    process.argv = [process.execPath, name, ...args]
    runs += 1
    try {
      await import(/* @vite-ignore */ `${resolve('functions/commands', name)}.ts?run=${runs}`)
    } finally {
      process.env = before.env
      process.argv = before.argv
    }
  })
}
