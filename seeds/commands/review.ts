import { spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline/promises'
import { runMain } from '../../functions/operations/run-main.ts'
import { parseConfig } from '../../functions/ports/config.ts'
import { OperatorError } from '../../src/domain/wire/operator-error.ts'
import type {
  Decision,
  ReviewFile,
  ReviewItem,
  ReviewSource,
  SettledItem,
} from '../content/review-item.ts'
import { checkFile, type ReviewPlace, readEdited } from '../review/accept-file.ts'
import { toPrintable } from '../text/plain-text.ts'
import { type ReviewOptions, readReviewOptions } from './review-options.ts'
import {
  findWaiting,
  openQueue,
  type ReviewQueue,
  toListLine,
  toShowLines,
  type Waiting,
} from './review-queue.ts'

/** Characters of one printed error, which may list many. */
const MAX_FAULT = 20_000
const ANSWERS = ['look', 'accept', 'edit', 'refuse', 'skip', 'quit'] as const

if (import.meta.main) await runMain(() => review(readReviewOptions(process.argv.slice(2))))

/** `npm run review`: shows what waits for a decision, and settles it. */
export async function review(options: ReviewOptions): Promise<void> {
  let queue: ReviewQueue | undefined
  try {
    const config = parseConfig(process.env)
    const place: ReviewPlace = {
      contentDir: options.content ?? config.CONTENT_DIR,
      allowPrivate: config.PRIVATE_TARGETS,
    }
    queue = await openQueue(place, config, options.from, () => new Date().toISOString())
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

async function act(queue: ReviewQueue, options: ReviewOptions, place: ReviewPlace): Promise<void> {
  const { action, id, json = false } = options
  if (action === null && process.stdin.isTTY && !json) return askAll(queue, place)
  if (action === null || action === 'list') return list(queue, json)
  if (options.all === true) return acceptAll(queue, options)
  return actOn(findWaiting(queue, id), options, place)
}

async function actOn(waiting: Waiting, options: ReviewOptions, place: ReviewPlace): Promise<void> {
  const { action, json = false, reason = '', file, path } = options
  if (action === 'show') return show(waiting, json)
  if (action === 'look') return look(waiting, json)
  if (action === 'edit') return edit(waiting, await chosenFile(waiting, options), { place, json })
  if (action === 'refuse') return settle(waiting, { decision: 'refused', reason }, json)
  const chosen = (file ?? path) === undefined ? {} : { file: await chosenFile(waiting, options) }
  return settle(waiting, { decision: 'accepted', reason, ...chosen }, json)
}

/** An item that can't be accepted keeps waiting, and the next one follows. */
async function acceptAll({ waiting }: ReviewQueue, options: ReviewOptions): Promise<void> {
  const { json = false, reason = '' } = options
  const decision = { decision: 'accepted', reason } as const
  let accepted = 0
  for (const [source, all] of Map.groupBy(waiting, (each) => each.source)) {
    const items = all.map(({ item }) => item)
    const settled = await (source.settleAll?.(items, decision) ??
      settleEach(source, items, decision))
    for (const each of settled) {
      if (each.fault === undefined) accepted += 1
      else process.exitCode = 1
      printSettled(each, 'accepted', json)
    }
  }
  if (!json) console.log(`${accepted} of ${waiting.length} accepted`)
}

async function settleEach(
  source: ReviewSource,
  items: readonly ReviewItem[],
  decision: Decision,
): Promise<SettledItem[]> {
  const settled: SettledItem[] = []
  for (const item of items)
    try {
      settled.push({ item, done: await source.settle(item, decision) })
    } catch (error) {
      settled.push({ item, fault: error instanceof Error ? error.message : String(error) })
    }
  return settled
}

function list({ waiting }: ReviewQueue, json: boolean): void {
  if (json) {
    const items = waiting.map(({ item, source }) => ({ kind: source.kind, ...item }))
    console.log(JSON.stringify({ items }))
    return
  }
  for (const { item } of waiting) console.log(toListLine(item))
  console.log(waiting.length === 0 ? 'nothing waits' : `${waiting.length} waiting`)
}

async function show(
  { item, source }: Waiting,
  json: boolean,
  remarks: readonly string[] = [],
): Promise<void> {
  const more = [...remarks, ...((await source.show?.(item)) ?? [])]
  if (json) return console.log(JSON.stringify({ kind: source.kind, ...item, more }))
  for (const line of toShowLines(item, more)) console.log(line)
}

async function look(waiting: Waiting, json: boolean): Promise<void> {
  const { item, source } = waiting
  if (source.look === undefined) throw new OperatorError(`${item.id}: nobody is asked about it`)
  const { file, remarks } = await source.look(item)
  waiting.item = { ...item, ...(file !== undefined && { file }) }
  await show(waiting, json, remarks)
}

async function edit(
  waiting: Waiting,
  file: ReviewFile,
  { place, json }: { place: ReviewPlace; json: boolean },
): Promise<void> {
  const { item, source } = waiting
  if (source.edit === undefined)
    throw new OperatorError(`${item.id}: there is nothing to edit; accept or refuse it`)
  await source.edit(item, file)
  waiting.item = { ...item, file }
  // Kept even when invalid: half an edit is not lost because a line of it is still wrong.
  const warnings = checkFile(place, file)
  if (json) console.log(JSON.stringify({ id: item.id, edited: file.path, warnings }))
  else for (const line of [`${item.id}: edited, and waits on`, ...warnings]) print(line)
}

async function settle({ item, source }: Waiting, decision: Decision, json: boolean): Promise<void> {
  const done = await source.settle(item, decision)
  printSettled({ item, done }, decision.decision, json)
}

function printSettled({ item, done = [], fault }: SettledItem, decision: string, json: boolean) {
  const { id, listing } = item
  if (fault !== undefined) printFault(fault)
  else if (json) console.log(JSON.stringify({ id, decision, listing, done }))
  else for (const line of [`${id}: ${decision}`, ...done]) print(line)
}

/** The text that replaces the waiting one: from a file, or from an editor. */
async function chosenFile({ item }: Waiting, { file, path }: ReviewOptions): Promise<ReviewFile> {
  const { file: waits } = item
  const goesTo = path ?? waits?.path
  if (goesTo === undefined)
    throw new OperatorError(`${item.id} has no file: say where it goes with --path listings/…`)
  if (file !== undefined) return { path: goesTo, text: await readEdited(file) }
  const text = waits?.text ?? ''
  const isMove = path !== undefined && waits !== undefined
  return { path: goesTo, text: isMove ? text : editText({ path: goesTo, text }, process.env) }
}

/** One after the other; an item that fails keeps waiting, and the next one follows. */
async function askAll({ waiting }: ReviewQueue, place: ReviewPlace): Promise<void> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout })
  try {
    for (const [index, each] of waiting.entries()) {
      console.log(`\n${index + 1} of ${waiting.length}`)
      if (!(await askOne(terminal, each, place))) return
    }
    console.log(waiting.length === 0 ? 'nothing waits' : 'that was all')
  } finally {
    terminal.close()
  }
}

type Terminal = ReturnType<typeof createInterface>

/** @returns false when the reviewer stops. */
async function askOne(terminal: Terminal, waiting: Waiting, place: ReviewPlace): Promise<boolean> {
  await show(waiting, false)
  for (;;) {
    const answer = await terminal.question('look, accept, edit, refuse, skip or quit? ')
    const [word = ''] = answer.trim().toLowerCase().split(/\s+/)
    const action = ANSWERS.find((each) => word === each || word === each[0])
    if (action === 'quit' || action === 'skip') return action === 'skip'
    const reason = action === 'refuse' ? (await terminal.question('why? ')).trim() : ''
    if (action === undefined || (action === 'refuse' && reason === '')) continue
    try {
      await actOn(waiting, { action, id: waiting.item.id, reason }, place)
      if (action !== 'edit' && action !== 'look') return true
    } catch (error) {
      printFault(error)
    }
  }
}

function print(line: string): void {
  console.log(toPrintable(line, MAX_FAULT))
}

function printFault(error: unknown): void {
  const text = error instanceof Error ? error.message : String(error)
  for (const line of text.split('\n')) console.error(toPrintable(line, MAX_FAULT))
}

/**
 * The reviewer changes the text in an editor; it has the file's name, so that the editor knows its
 * type.
 *
 * @throws OperatorError without an editor, or when it exits with an error
 */
export function editText({ path, text }: ReviewFile, env: NodeJS.ProcessEnv): string {
  const editor = env.VISUAL || env.EDITOR
  if (!editor)
    throw new OperatorError('expected an editor in VISUAL or EDITOR, or a text with --file FILE')
  const folder = mkdtempSync(join(tmpdir(), 'waypost-review-'))
  const file = join(folder, basename(path))
  try {
    writeFileSync(file, text, { mode: 0o600 })
    // As git does: the variable may contain arguments.
    const { status } = spawnSync('/bin/sh', ['-c', `${editor} "$1"`, 'sh', file], {
      stdio: 'inherit',
    })
    if (status !== 0) throw new OperatorError(`${editor} ended with a fault: nothing was changed`)
    return readFileSync(file, 'utf8')
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
