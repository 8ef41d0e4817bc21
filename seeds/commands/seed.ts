import { writeFile } from 'node:fs/promises'
import { runMain } from '../../functions/ports/run-main.ts'
import { toPrintable } from '../../src/content/faults.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import { runSeeding, type SeedingResult } from './run-seeding.ts'
import { readSeedOptions, type SeedOptions } from './seed-options.ts'
import { countSeeding, formatSeedReport } from './seed-report.ts'

const RETRY_MS = 1000

const FAILED = 1
const SUSPICIOUS = 3

if (import.meta.main)
  await runMain(async () => {
    const codes = (await seed(process.argv.slice(2))).map(({ code }) => code)
    process.exitCode = largestOf([0, ...codes])
  })

/** Why a source, or the report, was not written. */
export interface SeedFault {
  code: typeof FAILED | typeof SUSPICIOUS
  fault: string
}

/** @param args as of `npm run seed`. @returns what failed, in order; the rest was done */
export async function seed(args: readonly string[]): Promise<SeedFault[]> {
  const options = readSeedOptions(args, process.env, new Date())
  const faults: (SeedFault | null)[] = []
  const reported: SeedingResult[] = []
  // One after the other: each importer sees what the previous one listed.
  for (const importer of options.importers) faults.push(await seedOne(importer, options, reported))
  if (options.report !== null) faults.push(await writeReport(options.report, reported))
  return faults.filter((each) => each !== null)
}

async function seedOne(
  importer: string,
  options: SeedOptions,
  reported: SeedingResult[],
): Promise<SeedFault | null> {
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
    const { suspicion } = result
    return suspicion === null ? null : { code: SUSPICIOUS, fault: `${importer}: ${suspicion}` }
  } catch (error) {
    return fail(
      `${importer}: ${error instanceof Error ? error.message : error}; nothing was written`,
    )
  }
}

function fail(text: string): SeedFault {
  const fault = toPrintable(text, 1000)
  console.error(fault)
  return { code: FAILED, fault }
}

async function writeReport(file: string, results: readonly SeedingResult[]) {
  const lines = results.flatMap(({ importer, refused, dropped }) => [
    ...refused.map((refusal) => ({ source: importer, what: 'row', ...refusal })),
    ...dropped.map((refusal) => ({ source: importer, what: 'part', ...refusal })),
  ])
  try {
    await writeFile(file, lines.map((each) => `${JSON.stringify(each)}\n`).join(''))
    return null
  } catch (error) {
    return fail(`--report ${file}: ${error instanceof Error ? error.message : error}`)
  }
}
