import { join } from 'node:path'
import { type Config, parseConfig } from '../../functions/ports/config.ts'
import {
  createStderrLog,
  readCommandLine,
  runMain,
  wrongCommand,
} from '../../functions/ports/run-main.ts'
import { openStore } from '../../functions/store/open-store.ts'
import { hasLedger } from '../../functions/store/sqlite.ts'
import { toPrintable } from '../../src/content/faults.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { type Listed, readListed, withContent } from '../content/content-files.ts'
import { createFactQueue, PROPOSED_PAYOUTS, SUSPICIOUS_TEXTS } from '../review/proposed-facts.ts'
import {
  type Decision,
  type Question,
  type ReviewPlace,
  type ReviewSource,
  readDraft,
  type Settled,
  writeDraft,
} from '../review/questions.ts'
import { createReportQueue, createReviewClient } from '../review/reports.ts'
import { createRowQueue } from '../review/waiting-rows.ts'
import { SOURCE_IDS } from '../sources/sources.ts'

const ACTIONS = ['list', 'show', 'accept', 'refuse'] as const
const HELP = `Usage: npm run review [-- <command>] [options]

Decides what waits for a person: importers' rows, facts that probes propose, reports. None is live.

  list              the waiting questions, oldest first; also the default
  show ID           one question, with the file that would go into the content. The file is written
                    as a draft, review/<ID>.<listing>.md in the content folder: edit it there, and
                    rename it to give the listing another id. A reported service is called for it
  accept ID         carry it out: the draft goes into the content, checked as npm run check does
  accept --all      all rows of the importer in --from, except texts that give orders to an agent
  refuse ID         refuse it, with --reason

Options
  --reason TEXT     why; a refusal needs one
  --from KIND       only an importer's rows, payouts, texts or reports
  --content DIR     the content folder (CONTENT_DIR, or content)
  --json            the list as one JSON object
  --help            this text

ID may be the first characters of an id, if no other id starts with them.
Exit codes: 0 done; 1 it could not be done and still waits; 2 the command was wrong.
`

const OPTIONS = {
  reason: { type: 'string' },
  from: { type: 'string' },
  all: { type: 'boolean' },
  content: { type: 'string' },
  json: { type: 'boolean' },
} as const

/**
 * `npm run review`: shows what is waiting for a decision, and settles it.
 * @param args the arguments after the program's own name
 * @throws UsageError that says what would be right
 */
export async function review(args: readonly string[]): Promise<void> {
  const options = readOptions(args)
  let queue: Queue | undefined
  try {
    const config = parseConfig(process.env)
    const place: ReviewPlace = {
      contentDir: options.content ?? config.CONTENT_DIR,
      allowPrivate: config.PRIVATE_TARGETS,
    }
    queue = await openQueue(place, config, options.from)
    for (const fault of queue.faults) printFault(fault)
    if (queue.faults.length > 0) process.exitCode = 1
    await act(queue, options, place)
  } catch (error) {
    printFault(error instanceof OperatorError || !(error instanceof Error) ? error : error.stack)
    process.exitCode = 1
  } finally {
    await queue?.close()
  }
}

type Options = ReturnType<typeof readOptions>

function readOptions(args: readonly string[]) {
  const { values, words } = readCommandLine(HELP, OPTIONS, 2, args)
  const [named = 'list', id = ''] = words
  const { all = false, from = '', reason = '', json = false } = values
  const refuse = (fault: string) => wrongCommand(HELP, fault)
  const action = ACTIONS.find((each) => each === named)
  if (action === undefined)
    throw refuse(`expected one of ${ACTIONS.join(', ')}, got ${JSON.stringify(named)}`)
  if (all && (action !== 'accept' || id !== ''))
    throw refuse('--all: expected accept --all without an id')
  if (all && !SOURCE_IDS.includes(from))
    throw refuse(
      `--all: expected --from with one of ${SOURCE_IDS.join(', ')}; all other questions are decided one by one`,
    )
  const takesId = action !== 'list' && !all
  if (takesId && id === '') throw refuse(`${action}: expected the id of a question`)
  if (!takesId && id !== '') throw refuse(`expected no ${JSON.stringify(id)}`)
  if (action === 'refuse' && reason.trim() === '') throw refuse('refuse: expected --reason TEXT')
  return { ...values, action, id, all, json, reason }
}

/** A question, and the source that takes its answer. */
interface Waiting {
  question: Question
  source: ReviewSource
}

interface Queue {
  waiting: Waiting[]
  faults: string[]
  close(): Promise<void>
}

async function openQueue(
  place: ReviewPlace,
  config: Config,
  from: string | undefined,
): Promise<Queue> {
  const kinds = listKinds(place, config)
  const chosen = kinds.filter(({ kind }) => from === undefined || kind === from)
  if (chosen.length === 0)
    throw new OperatorError(
      `--from: expected one of ${kinds.map(({ kind }) => kind).join(', ')}, got ${JSON.stringify(from)}`,
    )
  const sources: ReviewSource[] = []
  const waiting: Waiting[] = []
  const faults: string[] = []
  for (const { kind, open } of chosen)
    try {
      const source = await open()
      if (source === null) continue
      sources.push(source)
      for (const question of await source.list()) waiting.push({ question, source })
    } catch (error) {
      faults.push(`${kind}: ${error instanceof Error ? error.message : String(error)}`)
    }
  return {
    waiting: waiting.sort((a, b) => (a.question.at < b.question.at ? -1 : 1)),
    faults,
    close: async () => {
      for (const source of sources) await source.close?.()
    },
  }
}

/**
 * Every kind of question, each opened on its own: a kind that fails must not hide the others. Null
 * for a kind that cannot have questions yet, for example without a ledger.
 */
function listKinds(
  place: ReviewPlace,
  config: Config,
): { kind: string; open: () => Promise<ReviewSource | null> }[] {
  const now = () => new Date().toISOString()
  let known: Listed | undefined
  const listed = () => {
    known ??= readListed(place.contentDir, { allowPrivate: place.allowPrivate })
    return known
  }
  const client = () => createReviewClient(config)
  return [
    ...SOURCE_IDS.map((importer) => ({
      kind: importer,
      open: async () => createRowQueue(importer, place, { now, listed }),
    })),
    ...[PROPOSED_PAYOUTS, SUSPICIOUS_TEXTS].map((fact) => ({
      kind: fact.kind,
      open: async () => createFactQueue(fact, place, now),
    })),
    {
      kind: 'reports',
      open: async () =>
        hasLedger(config)
          ? createReportQueue(place, await openStore(config, createStderrLog()), now, client)
          : null,
    },
  ]
}

async function act(queue: Queue, options: Options, place: ReviewPlace): Promise<void> {
  const { action, id, all, json, reason } = options
  if (action === 'list') return list(queue, json)
  if (action === 'accept' && all) return acceptAll(queue, options, place)
  const waiting = findWaiting(queue, id)
  if (action === 'show') return show(waiting, place)
  const decision = action === 'accept' ? 'accepted' : 'refused'
  await settle([waiting], { decision, reason }, place)
}

/** @throws OperatorError if no question, or more than one, has an id that starts with `id` */
function findWaiting({ waiting }: Queue, id: string): Waiting {
  const exact = waiting.find(({ question }) => question.id === id)
  if (exact !== undefined) return exact
  const [first, second] = waiting.filter(({ question }) => question.id.startsWith(id))
  if (first === undefined)
    throw new OperatorError(
      `expected the id of a waiting question, got ${JSON.stringify(id)}: see npm run review -- list`,
    )
  if (second !== undefined)
    throw new OperatorError(
      `${JSON.stringify(id)} matches both ${first.question.id} and ${second.question.id}: give more characters of the id`,
    )
  return first
}

function list({ waiting }: Queue, json: boolean): void {
  if (json) {
    const items = waiting.map(({ question, source }) => ({ kind: source.kind, ...question }))
    console.log(JSON.stringify({ items }))
    return
  }
  for (const { question } of waiting) {
    const { id, at, from, listing, why } = question
    console.log(
      [id, at.slice(0, 10), from, listing, why].map((part) => toPrintable(part)).join('  '),
    )
  }
  console.log(waiting.length === 0 ? 'nothing waits' : `${waiting.length} waiting`)
}

/** An existing draft is kept, because a person may have edited it. */
async function show({ question, source }: Waiting, { contentDir }: ReviewPlace): Promise<void> {
  const kept = await readDraft(contentDir, question.id)
  const { lines = [], draft } =
    (await source.show?.(kept === null ? question : { ...question, file: kept })) ?? {}
  const file = draft ?? question.file
  const written =
    kept?.draft ??
    (draft && (await withContent(contentDir, (writer) => writeDraft(writer, question.id, draft))))
  const shown = { ...question, ...(file !== undefined && { file }) }
  const where = written === undefined ? [] : [`draft:   ${join(contentDir, written)}`]
  for (const line of toShowLines(shown, [...lines, ...where])) console.log(line)
}

/** Accepts only questions that may be accepted unread; all others keep waiting. */
async function acceptAll(
  { waiting }: Queue,
  { reason }: Options,
  place: ReviewPlace,
): Promise<void> {
  const plain = waiting.filter(({ question, source }) => source.isPlain?.(question) === true)
  const accepted = await settle(plain, { decision: 'accepted', reason }, place)
  console.log(`${accepted} of ${waiting.length} accepted`)
  if (plain.length < waiting.length)
    console.log(
      `${waiting.length - plain.length} left for you to read first: npm run review -- show ID`,
    )
}

async function settle(
  waiting: readonly Waiting[],
  decision: Decision,
  place: ReviewPlace,
): Promise<number> {
  let done = 0
  for (const [source, all] of Map.groupBy(waiting, (each) => each.source)) {
    const questions = await Promise.all(
      all.map(async ({ question }) => {
        const draft = await readDraft(place.contentDir, question.id)
        return draft === null ? question : { ...question, file: draft }
      }),
    )
    for (const each of await source.settle(questions, decision)) {
      if (each.fault === undefined) done += 1
      else process.exitCode = 1
      printSettled(each, decision)
    }
  }
  return done
}

function printSettled({ question, done = [], fault }: Settled, { decision }: Decision) {
  const { id } = question
  if (fault !== undefined) printFault(`${id}: ${fault}`)
  else for (const line of [`${id}: ${decision}`, ...done]) console.log(toPrintable(line, LONG))
}

/** Most characters in one line: everything in a question may be foreign text. */
const LONG = 4000

/** @param more other facts that the reviewer should know */
export function toShowLines(question: Question, more: readonly string[]): string[] {
  const { id, at, why, from, listing, note, file } = question
  const text = file === undefined ? [] : file.text.split(/\r?\n/).map((line) => `  ${line}`)
  return [
    `${id}: ${why}, from ${from} on ${at.slice(0, 10)}`,
    `listing: ${listing}`,
    `note:    ${note}`,
    ...more,
    ...(file === undefined ? [] : ['', file.path, ...text]),
  ].map((line) => toPrintable(line, LONG))
}

/** Most characters in one printed error, which may list many faults. */
const MAX_FAULT = 20_000

function printFault(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error)
  for (const line of text.split('\n')) console.error(toPrintable(line, MAX_FAULT))
}

// This is at the end because it runs at once and needs everything declared above.
if (import.meta.main) await runMain(() => review(process.argv.slice(2)))
