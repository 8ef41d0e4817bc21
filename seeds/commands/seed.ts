import { writeFile } from 'node:fs/promises'
import { readCommandLine, runMain, wrongCommand } from '../../functions/ports/run-main.ts'
import { toPrintable } from '../../src/content/faults.ts'
import { largestOf } from '../../src/domain/wire/json.ts'
import { isOnCalendar } from '../../src/domain/wire/shapes.ts'
import { REFUSAL_REASONS, type Refusal } from '../facts/map-rows.ts'
import { SOURCE_IDS, SOURCES } from '../sources/sources.ts'
import { type RowOutcome, runSeeding } from './run-seeding.ts'

type SeedingResult = Awaited<ReturnType<typeof runSeeding>>

const RETRY_MS = 1000

const FAILED = 1
const SUSPICIOUS = 3

/** Why a source, or the report, was not written. */
interface SeedFault {
  code: typeof FAILED | typeof SUSPICIOUS
  fault: string
}

/**
 * @param args the arguments of `npm run seed`
 * @returns what failed, in order; the rest was done
 */
export async function seed(args: readonly string[]): Promise<SeedFault[]> {
  const options = readSeedOptions(args, process.env, new Date())
  const faults: (SeedFault | null)[] = []
  const reported: SeedingResult[] = []
  // One after the other: each importer sees what the previous importers listed.
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
    const result = await runSeeding({ ...options, importer, retryMs: RETRY_MS })
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

type SeedOptions = ReturnType<typeof readSeedOptions>

const HELP = `Usage: npm run seed -- <importer>|all [options]

Importers
${SOURCES.map(({ id, title }) => `  ${id.padEnd(17)} ${title}`).join('\n')}

Options
  --from FILE|URL   a saved file (ndjson, JSON, a page of the source's API) or the address of
                    the source's first page; the live source if left out
  --limit N         read at most N rows
  --since DATE      only rows changed since DATE, if the source can tell
  --content DIR     content folder to write to (CONTENT_DIR, or content)
  --listed          only rows of existing listings: no listing is added
  --dry-run         print what would be done, write nothing
  --force           write even if the run looks suspicious: every row was refused, or it took
                    fewer than half of the listings that the last full run took
  --json            one JSON object for each source, instead of the summary
  --report FILE     write every refusal to FILE, one JSON object per line
  --help            this text

Exit codes: 0 done; 1 the source or the disk failed; 2 the command was wrong; 3 the run looked
suspicious. Only exit code 0 means that files were written. What people edited is kept, what they
deleted stays deleted, and a second run changes nothing: see seeds/README.md.
`

const OPTIONS = {
  from: { type: 'string' },
  limit: { type: 'string' },
  since: { type: 'string' },
  content: { type: 'string' },
  report: { type: 'string' },
  'dry-run': { type: 'boolean' },
  listed: { type: 'boolean' },
  force: { type: 'boolean' },
  json: { type: 'boolean' },
} as const

/**
 * One importer or all, and the options in HELP; options that are left out are null. `now` and
 * `since` are ISO 8601.
 * @param args the arguments after the program's own name
 * @param now the machine's clock
 * @throws UsageError that says what would be right
 */
export function readSeedOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  now: Date,
) {
  const { values, words } = readCommandLine(HELP, OPTIONS, 1, args)
  const [word = ''] = words
  const live = SOURCES.filter(({ liveUrl }) => liveUrl !== null).map(({ id }) => id)
  const importers = word === 'all' ? live : [word]
  if (!importers.every((id) => SOURCE_IDS.includes(id)))
    throw refuse(
      `expected one importer (${[...SOURCE_IDS, 'all'].join(', ')}), got ${JSON.stringify(word)}`,
    )
  const limit = values.limit === undefined ? null : Number(values.limit)
  if (limit !== null && !(Number.isInteger(limit) && limit > 0))
    throw refuse(`--limit: expected a whole number above 0, got ${JSON.stringify(values.limit)}`)
  if (importers.length > 1 && values.from !== undefined)
    throw refuse('--from: expected a single importer, got all')
  return {
    importers,
    from: values.from ?? null,
    contentDir: values.content ?? (env.CONTENT_DIR || 'content'),
    limit,
    dryRun: values['dry-run'] === true,
    listed: values.listed === true,
    json: values.json === true,
    force: values.force === true,
    report: values.report ?? null,
    now: now.toISOString(),
    since: values.since === undefined ? null : readInstant(values.since),
  }
}

function readInstant(since: string): string {
  const [, day = '', time] = /^(\d{4}-\d\d-\d\d)(T[\d:.]+Z)?$/.exec(since) ?? []
  if (!isOnCalendar(day) || Number.isNaN(Date.parse(`${day}${time ?? ''}`)))
    throw refuse(
      `--since: expected a day or a UTC time such as 2026-11-20T00:00:00Z, got ${JSON.stringify(since)}`,
    )
  return new Date(since).toISOString()
}

const refuse = (fault: string) => wrongCommand(HELP, fault)

const EXAMPLES = 3

/** The summary for people at the end: every row is included in one of its numbers. */
function formatSeedReport(result: SeedingResult, options: { dryRun: boolean }): string {
  const { importer, from, refused, dropped, suspicion } = result
  const { read, rows, listings } = countSeeding(result)
  const would = options.dryRun || suspicion !== null ? 'would be ' : ''
  return [
    `${importer}: ${read} rows from ${toPrintable(from)}`,
    line(rows.added, `${would}added, and wait for a person: npm run review -- --from ${importer}`),
    line(rows.changed, `${would}changed`),
    line(rows.unchanged, 'unchanged'),
    ...some(rows.merged, `${would}merged into listings, existing or made from other rows`),
    ...some(rows.kept, 'left as they are (hands-off.yaml)'),
    line(rows.refused, 'refused'),
    ...formatByReason(refused),
    ...some(listings.withdrawn, `listings ${would}withdrawn`),
    ...some(listings.returned, `listings ${would}brought back`),
    ...some(listings.waiting, 'rows wait for a person'),
    ...some(dropped.length, 'parts of listings left out; their other parts are carried over'),
    ...formatByReason(dropped),
    ...(suspicion === null ? [] : [`Nothing was written: ${suspicion}. --force writes it anyway.`]),
    ...(options.dryRun ? ['Dry run: nothing was written.'] : []),
    '',
  ].join('\n')
}

function some(count: number, text: string): string[] {
  return count === 0 ? [] : [line(count, text)]
}

function formatByReason(refusals: readonly Refusal[]): string[] {
  return [...Map.groupBy(refusals, ({ reason }) => reason)]
    .sort(([a, listA], [b, listB]) => listB.length - listA.length || (a < b ? -1 : 1))
    .flatMap(([reason, list]) => {
      const examples = list
        .slice(0, EXAMPLES)
        .map(({ name, detail }) => `${toPrintable(name, 100)}: ${toPrintable(detail, 160)}`)
      if (list.length > EXAMPLES)
        examples.push(`and ${list.length - EXAMPLES} more (--report FILE lists all)`)
      return [
        `  ${line(list.length, `${reason}: ${REFUSAL_REASONS[reason]}`)}`,
        ...examples.map((text) => `           ${text}`),
      ]
    })
}

function line(count: number, text: string): string {
  return `${String(count).padStart(7)}  ${text}`
}

/**
 * What `--json` prints for one source; `rows` add up to `read`. `left_out` counts parts of
 * listings: remotes, prices, operations. `suspicion` is why nothing was written.
 */
export function countSeeding(result: SeedingResult) {
  const { plan, refused, dropped, suspicion } = result
  const { outcomes } = plan
  const count = (outcome: RowOutcome) => outcomes.filter((each) => each.outcome === outcome).length
  const all = (outcome: RowOutcome) =>
    outcomes.filter((each) => each.outcome === outcome).reduce((sum, { rows }) => sum + rows, 0)
  // If several rows are for one service, the first created the listing and the others joined it.
  const joining = outcomes
    .filter(({ outcome }) => outcome !== 'merged' && outcome !== 'kept')
    .reduce((sum, { rows }) => sum + rows - 1, 0)
  return {
    source: result.importer,
    read: result.rows,
    rows: {
      added: count('added'),
      changed: count('changed') + count('returned'),
      unchanged: count('unchanged'),
      merged: all('merged') + joining,
      kept: all('kept'),
      refused: refused.reduce((sum, { rows = 1 }) => sum + rows, 0),
    },
    listings: {
      added: count('added'),
      changed: count('changed') + count('merged'),
      unchanged: count('unchanged'),
      withdrawn: plan.withdrawn.filter(({ how }) => how === 'tombstone').length,
      returned: count('returned'),
      waiting: plan.waiting,
    },
    refused_by: countByReason(refused),
    left_out: countByReason(dropped),
    seconds: Math.round(result.seconds * 1000) / 1000,
    ...(suspicion === null ? {} : { suspicion }),
  }
}

function countByReason(refusals: readonly Refusal[]): Record<string, number> {
  const counts = new Map<string, number>()
  for (const { reason, rows = 1 } of refusals) counts.set(reason, (counts.get(reason) ?? 0) + rows)
  return Object.fromEntries([...counts].sort(([a, m], [b, n]) => n - m || (a < b ? -1 : 1)))
}

// This is at the end because it runs at once and needs everything declared above.

if (import.meta.main)
  await runMain(async () => {
    const codes = (await seed(process.argv.slice(2))).map(({ code }) => code)
    process.exitCode = largestOf([0, ...codes])
  })
