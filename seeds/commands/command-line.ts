import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'

/** What a command was given, a call for help, or what is wrong with it. */
export type CommandLine<Options> =
  | { ok: true; options: Options }
  | { ok: true; help: true }
  | { ok: false; message: string }

/** @returns what is wrong, where an option is not known or lacks its value */
export function parseCommandLine<Config extends ParseArgsOptionsConfig>(
  args: readonly string[],
  options: Config,
) {
  try {
    const help = { type: 'boolean', short: 'h' } as const
    return parseArgs({ args: [...args], allowPositionals: true, options: { ...options, help } })
  } catch (error) {
    return error instanceof Error ? error.message : 'expected other options'
  }
}
