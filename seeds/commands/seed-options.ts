import { readCommandLine, wrongCommand } from '../../functions/ports/run-main.ts'
import { isOnCalendar } from '../../src/domain/wire/shapes.ts'
import { SOURCE_IDS, SOURCES } from '../sources/sources.ts'

export type SeedOptions = ReturnType<typeof readSeedOptions>

const HELP = `Usage: npm run seed -- <importer>|all [options]

Importers
${SOURCES.map(({ id, title }) => `  ${id.padEnd(17)} ${title}`).join('\n')}

Options
  --from FILE|URL   a saved file (ndjson, JSON, a page of the source's API) or the address of
                    the source's first page; the live source when left out
  --limit N         read at most N rows
  --since DATE      only rows that changed since, where the source can tell
  --content DIR     content folder to write to (CONTENT_DIR, or content)
  --listed          only rows of listings that are there: none is added
  --dry-run         say what would be done, write nothing
  --force           write also what looks suspicious: every row refused, or fewer than half of
                    the listings that the last whole run took
  --json            one JSON object a source instead of the summary
  --report FILE     write every refusal to FILE, one JSON object a line
  --help            this text

Exit codes: 0 done; 1 the source or the disk failed; 2 the command was wrong; 3 the run looked
suspicious. Only 0 writes anything. What people edited is kept, what they deleted stays deleted,
and a second run changes nothing: see seeds/README.md.
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
 * One importer or all, and the options as in HELP; null where one is left out. `now` and `since`
 * are ISO 8601.
 *
 * @param args without the program's own name
 * @param now the machine's clock
 * @throws UsageError that says how to fix it
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
    throw refuse('--from: expected one importer with it, got all')
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
