import { writeFile } from 'node:fs/promises'
import { runMain } from '../../functions/ports/run-main.ts'
import { largestOf } from '../../src/domain/wire/extremes.ts'
import { toPrintable } from '../text/plain-text.ts'
import { runSeeding, type SeedingResult } from './run-seeding.ts'
import { readSeedOptions, type SeedOptions } from './seed-options.ts'
import { countSeeding, formatSeedReport } from './seed-report.ts'

const RETRY_MS = 1000

const DONE = 0
const FAILED = 1
const SUSPICIOUS = 3

await runMain(async () => {
  const options = readSeedOptions(process.argv.slice(2), process.env, new Date())
  const codes: number[] = []
  const reported: SeedingResult[] = []
  // One after the other: each importer sees what the previous one listed.
  for (const importer of options.importers) codes.push(await seedOne(importer, options, reported))
  if (options.report !== null) codes.push(await writeReport(options.report, reported))
  process.exitCode = largestOf(codes)
})

async function seedOne(importer: string, options: SeedOptions, reported: SeedingResult[]) {
  try {
    const result = await runSeeding(
      { ...options, importer },
      { progress: process.stderr, now: Date.now, retryMs: RETRY_MS, allowPlaceholders: false },
    )
    reported.push(result)
    process.stdout.write(
      options.json
        ? `${JSON.stringify(countSeeding(result))}\n`
        : formatSeedReport(result, options),
    )
    return result.suspicion === null ? DONE : SUSPICIOUS
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error)
    console.error(toPrintable(`${importer}: ${message}; nothing was written`, 1000))
    return FAILED
  }
}

async function writeReport(file: string, results: readonly SeedingResult[]): Promise<number> {
  const lines = results.flatMap(({ importer, refused, dropped }) => [
    ...refused.map((refusal) => ({ source: importer, what: 'row', ...refusal })),
    ...dropped.map((refusal) => ({ source: importer, what: 'part', ...refusal })),
  ])
  try {
    await writeFile(file, lines.map((each) => `${JSON.stringify(each)}\n`).join(''))
    return DONE
  } catch (error) {
    console.error(
      `--report ${toPrintable(file)}: ${error instanceof Error ? error.message : error}`,
    )
    return FAILED
  }
}
