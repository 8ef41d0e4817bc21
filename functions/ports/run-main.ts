import { type ParseArgsOptionsConfig, parseArgs } from 'node:util'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { type Config, parseConfig } from './config.ts'
import { createLog, type Log } from './log.ts'

/** A command was used wrongly (exit code 2), or with `--help` (0). */
export class UsageError extends OperatorError {
  override name = 'UsageError'
  readonly exitCode: 0 | 2
  constructor(message: string, exitCode: 0 | 2 = 2) {
    super(message)
    this.exitCode = exitCode
  }
}

/**
 * Runs a command. Errors that the operator can fix are printed as they are and exit with 1, usage
 * errors with 2; anything else is a bug of ours and its stack is printed.
 */
export async function runMain(command: () => Promise<void> | void): Promise<void> {
  try {
    await command()
  } catch (error) {
    process.exitCode = error instanceof UsageError ? error.exitCode : 1
    const shown = error instanceof OperatorError ? error.message : (toDiskAdvice(error) ?? error)
    if (process.exitCode === 0) console.log(shown)
    else console.error(shown)
  }
}

/** Runs a command on the ledger: prints its result, or one line for an error. */
export function runCommand(command: (config: Config, log: Log) => Promise<string>): Promise<void> {
  return runMain(async () => {
    const config = parseConfig(process.env)
    const done = command(config, createStderrLog()).catch((error: unknown) => {
      const isOurs = error instanceof Error && toDiskAdvice(error) === null
      throw isOurs && !(error instanceof OperatorError) ? new OperatorError(error.message) : error
    })
    console.log(await done)
  })
}

/** A signal that is aborted when the command must end. */
export function untilStopped(): AbortSignal {
  const stop = new AbortController()
  process.once('SIGTERM', () => stop.abort()).once('SIGINT', () => stop.abort())
  return stop.signal
}

/** A command's log goes to stderr: standard output is only for its result. */
export function createStderrLog(): Log {
  return createLog((line) => process.stderr.write(line), Date.now)
}

/**
 * A command's options and words; every command has `--help`.
 * @param mostWords how many words are allowed in addition to the options
 * @throws UsageError that ends with `help`
 */
export function readCommandLine<const Options extends ParseArgsOptionsConfig>(
  help: string,
  options: Options,
  mostWords = 0,
  args: readonly string[] = process.argv.slice(2),
) {
  const all = { ...options, help: { type: 'boolean' } } as const
  try {
    const allowPositionals = mostWords > 0
    const { values, positionals } = parseArgs({ args: [...args], allowPositionals, options: all })
    const odd = positionals[mostWords]
    if ('help' in values && values.help === true) throw new UsageError(help, 0)
    if (odd !== undefined) throw wrongCommand(help, `expected no ${JSON.stringify(odd)}`)
    return { values, words: positionals }
  } catch (error) {
    if (error instanceof UsageError) throw error
    throw wrongCommand(help, error instanceof Error ? error.message : String(error))
  }
}

/** @returns the refusal: what is wrong, then the usage */
export function wrongCommand(help: string, fault: string): UsageError {
  return new UsageError(`${fault}\n\n${help}`)
}

/** What to do about a full disk; null for any other error. */
export function toDiskAdvice(error: unknown): string | null {
  if (!isDiskFull(error)) return null
  const reason = error instanceof Error ? error.message : String(error)
  return `The disk is full (${reason}). Existing files are unchanged. Make room for OUT_DIR and STATE_DIR, then run the command again.`
}

/** How Node, SQLite, bundlers in Rust and disk quotas report a full disk, with or without an error code. */
const DISK_FULL = /\bENOSPC\b|\bEDQUOT\b|no space left on device|disk quota exceeded|disk is full/i

function isDiskFull(error: unknown): boolean {
  return DISK_FULL.test(String(error))
}

/** The parent process, read before any startup work. */
const SHELL = process.ppid
/** How often a process that npm started checks whether its shell still runs (milliseconds). */
const LOOK_EVERY = 500

/**
 * Shuts the process down in order when requested. npm sends a signal to the shell between it and
 * us, and most shells end without passing the signal on, so a process started by npm's scripts ends
 * when that shell has ended.
 * @param stop called once; the process exits with 0 when it is done
 */
export function onStop(stop: () => Promise<void>): void {
  let isStopping = false
  const end = () => {
    if (isStopping) return
    isStopping = true
    void stop().then(() => process.exit(0))
  }
  process.once('SIGTERM', end)
  process.once('SIGINT', end)
  if (process.env.npm_lifecycle_script?.includes('functions/commands/') !== true) return
  setInterval(() => {
    if (process.ppid !== SHELL) end()
  }, LOOK_EVERY).unref()
}
