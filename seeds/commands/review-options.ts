import { type CommandLine, parseCommandLine } from './command-line.ts'

const ACTIONS = ['list', 'show', 'accept', 'edit', 'refuse'] as const
type Action = (typeof ACTIONS)[number]

export interface ReviewOptions {
  /** Null asks about one item after the other, or lists them where nobody can answer. */
  action: Action | null
  /** An id, or the beginning of one; empty for `list`. */
  id: string
  /** A file to take instead of the waiting one, or where it goes; null for as it waits. */
  file: string | null
  path: string | null
  reason: string | null
  /** One kind of question alone. */
  from: string | null
  json: boolean
  contentDir: string | null
}

export const REVIEW_HELP = `Usage: npm run review [-- <command>] [options]

What waits for a person: rows of importers, proposals, disputes. Nothing of it is live.

  (no command)      one after the other, with questions; a list where nobody can answer
  list              what waits, oldest first
  show ID           one of them, with the file that would go into the content
  accept ID         carry it out: the file goes into the content, checked as npm run check does
  edit ID           change the waiting file in $VISUAL or $EDITOR, or put --file in its place
  refuse ID         refuse it, with --reason

Options
  --file FILE       accept or edit: this text instead of the waiting one
  --path PATH       accept or edit: where it goes, such as listings/mcp/foo.md
  --reason TEXT     why; a refusal needs one
  --from KIND       only content, tags, payouts, texts, proposals or disputes
  --content DIR     the content folder (CONTENT_DIR, or content)
  --json            one JSON object instead of words
  --help            this text

ID may be the beginning of one, if it is the only such.
Exit codes: 0 done; 1 it could not be done, and waits on; 2 the command was wrong.
`

/** @param args without the program's own name */
export function parseReviewOptions(args: readonly string[]): CommandLine<ReviewOptions> {
  const parsed = parseArguments(args)
  if (typeof parsed === 'string') return { ok: false, message: parsed }
  const { values, positionals } = parsed
  if (values.help === true) return { ok: true, help: true }
  const [named, id, ...rest] = positionals
  const action = ACTIONS.find((each) => each === named) ?? null
  const fault = findFault({ named, action, id, rest, values })
  if (fault !== null) return { ok: false, message: fault }
  return {
    ok: true,
    options: {
      action,
      id: id ?? '',
      file: values.file ?? null,
      path: values.path ?? null,
      reason: values.reason ?? null,
      from: values.from ?? null,
      json: values.json === true,
      contentDir: values.content ?? null,
    },
  }
}

type Values = Exclude<ReturnType<typeof parseArguments>, string>['values']

interface Given {
  named: string | undefined
  action: Action | null
  id: string | undefined
  rest: readonly string[]
  values: Values
}

function findFault({ named, action, id, rest, values }: Given): string | null {
  if (named !== undefined && action === null)
    return `expected one of ${ACTIONS.join(', ')}, got ${JSON.stringify(named)}`
  const takesId = action !== null && action !== 'list'
  if (takesId && id === undefined) return `${action}: expected the id of what waits`
  if (rest.length > 0 || (!takesId && id !== undefined))
    return `expected nothing more, got ${JSON.stringify(rest[0] ?? id)}`
  const takesFile = action === 'accept' || action === 'edit'
  if (!takesFile && (values.file !== undefined || values.path !== undefined))
    return '--file and --path: expected with accept or edit'
  if (action === 'refuse' && (values.reason ?? '').trim() === '')
    return 'refuse: expected --reason TEXT'
  return null
}

const parseArguments = (args: readonly string[]) =>
  parseCommandLine(args, {
    file: { type: 'string' },
    path: { type: 'string' },
    reason: { type: 'string' },
    from: { type: 'string' },
    content: { type: 'string' },
    json: { type: 'boolean' },
  })
