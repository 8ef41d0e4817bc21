import { type Config, parseConfig } from '../ports/config.ts'
import { createLog, type Log } from '../ports/log.ts'
import { toDiskAdvice } from './run-main.ts'

/** A command-line step: what it prints is its result; what goes wrong is one line and exit code 1. */
export async function runCommand(
  command: (config: Config, log: Log) => Promise<string>,
): Promise<void> {
  try {
    const config = parseConfig(process.env)
    const log = createLog((line) => process.stderr.write(line), Date.now)
    console.log(await command(config, log))
  } catch (error) {
    console.error(toDiskAdvice(error) ?? (error instanceof Error ? error.message : error))
    process.exitCode = 1
  }
}
