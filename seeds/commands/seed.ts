import { toPrintable } from '../text/printable.ts'
import { runSeeding } from './run-seeding.ts'
import { HELP, parseSeedOptions } from './seed-options.ts'
import { formatSeedReport } from './seed-report.ts'

const RETRY_MS = 1000

process.exitCode = await main(process.argv.slice(2))

/** @returns the exit code: 0 done, 1 the source or the content is at fault, 2 the command is. */
async function main(args: readonly string[]): Promise<number> {
  const parsed = parseSeedOptions(args, process.env, new Date())
  if (!parsed.ok) {
    console.error(`${toPrintable(parsed.message)}\n\n${HELP}`)
    return 2
  }
  if ('help' in parsed) {
    console.log(HELP)
    return 0
  }
  try {
    const result = await runSeeding(parsed.options, {
      progress: process.stderr,
      now: Date.now,
      retryMs: RETRY_MS,
      allowPlaceholders: false,
    })
    process.stdout.write(formatSeedReport(result, parsed.options))
    return 0
  } catch (error) {
    console.error(toPrintable(error instanceof Error ? error.message : String(error), 1000))
    return 1
  }
}
