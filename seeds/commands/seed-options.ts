import { parseArgs } from 'node:util'
import { LIVE_URL } from '../sources/mcp-registry/read-rows.ts'

export const IMPORTERS = ['mcp-registry'] as const
export type Importer = (typeof IMPORTERS)[number]

export interface SeedOptions {
  importer: Importer
  from: string
  contentDir: string
  limit: number | null
  dryRun: boolean
  /** File for every refusal, one JSON object a line; null for the summary alone. */
  report: string | null
  /** Day to write where the source doesn't tell one. */
  today: string
}

export const HELP = `Usage: npm run seed -- <importer> [options]

Importers
  mcp-registry      servers of the MCP registry

Options
  --from FILE|URL   a saved file (ndjson, server.json or a page of the API) or an address
                    of the API; the live registry when left out
  --limit N         read at most N rows
  --content DIR     content folder to write to (CONTENT_DIR, or content)
  --date DAY        "added" of listings whose source tells no day (today)
  --dry-run         say what would be done, write nothing
  --report FILE     write every refusal to FILE, one JSON object a line
  --help            this text

What people edited is kept, what they deleted stays deleted, and a second run changes nothing:
see seeds/README.md.
`

export type ParsedOptions =
  | { ok: true; options: SeedOptions }
  | { ok: true; help: true }
  | { ok: false; message: string }

/**
 * @param args without the program's own name
 * @param now the machine's clock
 */
export function parseSeedOptions(
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  now: Date,
): ParsedOptions {
  const parsed = tryParse(args)
  if (typeof parsed === 'string') return { ok: false, message: parsed }
  const { values, positionals } = parsed
  if (values.help === true) return { ok: true, help: true }
  const importer = IMPORTERS.find((known) => known === positionals[0])
  if (importer === undefined || positionals.length !== 1)
    return refuse(
      `expected one importer (${IMPORTERS.join(', ')}), got ${JSON.stringify(positionals.join(' '))}`,
    )
  const limit = values.limit === undefined ? null : Number(values.limit)
  if (limit !== null && !(Number.isInteger(limit) && limit > 0))
    return refuse(`--limit: expected a whole number above 0, got ${JSON.stringify(values.limit)}`)
  const today = values.date ?? now.toISOString().slice(0, 10)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(today) || Number.isNaN(Date.parse(today)))
    return refuse(`--date: expected a day such as 2026-11-20, got ${JSON.stringify(today)}`)
  const options: SeedOptions = {
    importer,
    from: values.from ?? LIVE_URL,
    contentDir: values.content ?? (env.CONTENT_DIR || 'content'),
    limit,
    dryRun: values['dry-run'] === true,
    report: values.report ?? null,
    today,
  }
  return { ok: true, options }
}

function tryParse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        from: { type: 'string' },
        limit: { type: 'string' },
        content: { type: 'string' },
        date: { type: 'string' },
        report: { type: 'string' },
        'dry-run': { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
      },
    })
  } catch (error) {
    return error instanceof Error ? error.message : 'expected other options'
  }
}

function refuse(message: string): ParsedOptions {
  return { ok: false, message }
}
