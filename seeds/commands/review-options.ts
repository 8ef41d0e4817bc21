import { readCommandLine, wrongCommand } from '../../functions/operations/run-main.ts'
import { SOURCE_IDS } from '../sources/sources.ts'

const ACTIONS = ['list', 'show', 'look', 'accept', 'edit', 'refuse'] as const
const HELP = `Usage: npm run review [-- <command>] [options]

What waits for a person: rows of importers, and what people report. Nothing of it is live.

  (no command)      one after the other, with questions; a list where nobody can answer
  list              what waits, oldest first
  show ID           one of them, with the file that would go into the content
  look ID           ask the address of a reported service, and keep the file its answers make
  accept ID         carry it out: the file goes into the content, checked as npm run check does
  accept --all      a whole list at once: --from tags, or --from and an importer
  edit ID           change the waiting file in $VISUAL or $EDITOR, or put --file in its place
  refuse ID         refuse it, with --reason

Options
  --file FILE       accept or edit: this text instead of the waiting one
  --path PATH       accept or edit: where it goes, such as listings/mcp/foo.md
  --reason TEXT     why; a refusal needs one
  --from KIND       only an importer's rows, tags, payouts, texts or reports
  --content DIR     the content folder (CONTENT_DIR, or content)
  --json            one JSON object instead of words
  --help            this text

ID may be the beginning of one, if it is the only such.
Exit codes: 0 done; 1 it could not be done, and waits on; 2 the command was wrong.
`

const OPTIONS = {
  file: { type: 'string' },
  path: { type: 'string' },
  reason: { type: 'string' },
  from: { type: 'string' },
  all: { type: 'boolean' },
  content: { type: 'string' },
  json: { type: 'boolean' },
} as const

/**
 * The command and its options. Without an action it asks about one item after the other, or lists
 * them where nobody can answer; `id` is an id or its beginning, and empty for `list`.
 *
 * @param args without the program's own name
 * @throws UsageError that says how to fix it
 */
export function readReviewOptions(args: readonly string[]): ReviewOptions {
  const { values, words } = readCommandLine(HELP, OPTIONS, 2, args)
  const [named, id = ''] = words
  const action = ACTIONS.find((each) => each === named) ?? null
  const options = { ...values, action, id }
  const isUnknown = named !== undefined && action === null
  const fault = isUnknown
    ? `expected one of ${ACTIONS.join(', ')}, got ${JSON.stringify(named)}`
    : findFault(options)
  if (fault !== null) throw wrongCommand(HELP, fault)
  return options
}

export interface ReviewOptions {
  action: (typeof ACTIONS)[number] | null
  id: string
  /** A file to take instead of the waiting one, and where it goes. */
  file?: string
  path?: string
  reason?: string
  /** Only one kind of question. */
  from?: string
  /** Every item of that kind, instead of an id. */
  all?: boolean
  json?: boolean
  content?: string
}

/** Kinds that may be accepted as a list: a tag harms nobody, and suspicious words stay out. */
const WHOLE_LISTS = ['tags', ...SOURCE_IDS]

function findFault(options: ReviewOptions): string | null {
  const { action, id, file, path, reason = '', all = false, from = '' } = options
  if (all && (action !== 'accept' || id !== '' || (file ?? path) !== undefined))
    return '--all: expected accept --all without an id and without a file'
  if (all && !WHOLE_LISTS.includes(from))
    return `--all: expected --from with one of ${WHOLE_LISTS.join(', ')}; the rest is decided one by one`
  const takesId = action !== null && action !== 'list' && !all
  if (takesId && id === '') return `${action}: expected the id of what waits`
  if (!takesId && id !== '') return `expected no ${JSON.stringify(id)}`
  const takesFile = action === 'accept' || action === 'edit'
  if (!takesFile && (file ?? path) !== undefined)
    return '--file and --path: expected with accept or edit'
  return action === 'refuse' && reason.trim() === '' ? 'refuse: expected --reason TEXT' : null
}
