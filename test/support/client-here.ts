import { vi } from 'vitest'
import { runCommand } from '../../packages/client/cli/run-command.ts'
import { withEnv } from './own-env.ts'

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
  return withEnv(env, async () => {
    const [stdout, stderr]: string[][] = [[], []]
    const spies = [
      vi.spyOn(console, 'log').mockImplementation((line) => void stdout?.push(`${line}\n`)),
      vi.spyOn(console, 'error').mockImplementation((line) => void stderr?.push(`${line}\n`)),
      vi.spyOn(process.stdout, 'write').mockImplementation((chunk) => {
        stdout?.push(typeof chunk === 'string' ? chunk : Buffer.from(chunk).toString())
        return true
      }),
    ]
    const { isTTY } = process.stdout
    process.stdout.isTTY = isTerminal
    try {
      const code = await runCommand(args)
      return { code, stdout: stdout?.join('') ?? '', stderr: stderr?.join('') ?? '' }
    } finally {
      process.stdout.isTTY = isTTY
      for (const spy of spies) spy.mockRestore()
    }
  })
}
