import { vi } from 'vitest'
import { runCommand } from '../../packages/client/cli/run-command.ts'

let last: Promise<unknown> = Promise.resolve()

/**
 * `waypost` within this process, one command after the other, with variables of its own: starting Node
 * for each takes a third of a second of a core.
 *
 * @param isTerminal whether what it prints goes to a terminal, and not into a pipe
 */
export function clientHere(
  args: readonly string[],
  { env = {}, isTerminal = false }: { env?: Record<string, string>; isTerminal?: boolean } = {},
): Promise<{ code: number; stdout: string; stderr: string }> {
  const run = async () => {
    const [stdout, stderr]: string[][] = [[], []]
    const spies = [
      vi.spyOn(console, 'log').mockImplementation((line) => void stdout?.push(`${line}\n`)),
      vi.spyOn(console, 'error').mockImplementation((line) => void stderr?.push(`${line}\n`)),
      vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
        stdout?.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
        return true
      }),
    ]
    const before = { env: { ...process.env }, isTTY: process.stdout.isTTY }
    Object.assign(process.env, env)
    process.stdout.isTTY = isTerminal
    try {
      const code = await runCommand(args)
      return { code, stdout: stdout?.join('') ?? '', stderr: stderr?.join('') ?? '' }
    } finally {
      process.env = before.env
      process.stdout.isTTY = before.isTTY
      for (const spy of spies) spy.mockRestore()
    }
  }
  const done = last.then(run)
  last = done.catch(() => undefined)
  return done
}
