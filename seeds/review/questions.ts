import { hash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as v from 'valibot'
import { checkListing, findDuplicates } from '../../src/content/check.ts'
import { type Fault, faultOf, formatFault } from '../../src/content/faults.ts'
import { createListingParser } from '../../src/content/listing-file.ts'
import { readTables } from '../../src/content/tables.ts'
import { isListingId, listingIdOf } from '../../src/domain/listing/listing-text.ts'
import type { PrivateTargets, UrlRules } from '../../src/domain/listing/target-url.ts'
import type { NamedRow } from '../../src/domain/sources/source-row.ts'
import { parseJson } from '../../src/domain/wire/json.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import type { ContentWriter } from '../content/content-files.ts'
import {
  listingFileOf,
  readIfThere,
  readListed,
  renderJson,
  withContent,
} from '../content/content-files.ts'

export interface ReviewPlace {
  contentDir: string
  /** The setting `UNSAFE_ALLOW_PRIVATE_TARGETS`. */
  allowPrivate: PrivateTargets
}

interface ReviewFile {
  path: string
  text: string
}

/** A question for reviewers; its content is not published. */
export interface Question {
  /** Lower-case letters, digits and dashes. The same question always has the same id, so that it comes up once. */
  id: string
  at: string
  why: string
  /** The question's origin: an importer, `texts`, `reports`. */
  from: string
  listing: string
  note: string
  /** The file that goes into the content if the question is accepted: the draft, if there is one. */
  file?: ReviewFile
}

/** A reviewer's decision and its reason, which a refused person needs before trying again. */
export interface Decision {
  decision: 'accepted' | 'refused'
  reason: string
}

/**
 * A place where questions wait: files in the content, or rows in the ledger. A new kind of question
 * needs such a source and a line in `seeds/commands/review.ts`.
 */
export interface ReviewSource {
  /** The name for `--from`, such as `texts` or `reports`. */
  kind: string
  /** Waiting questions, oldest first. */
  list(): Promise<Question[]>
  /**
   * Lines for the reviewer in addition to the question, such as whom to ask, and the text that a
   * person may edit before it is accepted. Absent if the question itself is complete.
   */
  show?(question: Question): Promise<{ lines: string[]; draft?: ReviewFile | undefined }>
  /** Whether a question may be accepted unread, together with others. Absent if each one must be read. */
  isPlain?(question: Question): boolean
  /**
   * Carries out a decision on each question, its effect first and its record last: if the process is killed in between,
   * repeating the command gives the same result. A failed question keeps waiting.
   */
  settle(questions: readonly Question[], decision: Decision): Promise<Settled[]>
  close?(): Promise<void>
}

export interface Settled {
  question: Question
  done?: string[]
  fault?: string
}

export function questionId(parts: readonly unknown[]): string {
  return hash('sha256', JSON.stringify(parts), 'hex').slice(0, 12)
}

/** Settles each question by itself: a failure must not stop the others. */
export async function settleEach(
  questions: readonly Question[],
  settle: (question: Question) => Promise<string[]>,
): Promise<Settled[]> {
  const settled: Settled[] = []
  for (const question of questions)
    try {
      settled.push({ question, done: await settle(question) })
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error
      settled.push({ question, fault: error.message })
    }
  return settled
}

const FOLDER = 'review'

/** @throws OperatorError if a question has several drafts */
export async function readDraft(
  contentDir: string,
  id: string,
): Promise<(ReviewFile & { draft: string }) | null> {
  const names = await findDrafts(contentDir, id)
  const [name] = names
  if (name === undefined) return null
  if (names.length > 1)
    throw new OperatorError(`${id} has several drafts: keep one of ${names.join(', ')}`)
  const text = await readFile(join(contentDir, FOLDER, name), 'utf8')
  const path = listingFileOf(name.slice(id.length + 1, -'.md'.length))
  return { path, text, draft: `${FOLDER}/${name}` }
}

/**
 * The text of a question's file, for a person to edit. `review/<question>.<listing>.md` becomes that
 * listing, so renaming the file changes the listing.
 */
export async function writeDraft(
  writer: ContentWriter,
  id: string,
  file: ReviewFile,
): Promise<string> {
  const draft = `${FOLDER}/${id}.${listingIdOf(file.path)}.md`
  await writer.write(draft, file.text)
  return draft
}

export async function removeDrafts(
  { contentDir }: Pick<ReviewPlace, 'contentDir'>,
  writer: ContentWriter,
  id: string,
): Promise<void> {
  for (const name of await findDrafts(contentDir, id)) await writer.remove(`${FOLDER}/${name}`)
}

async function findDrafts(contentDir: string, id: string): Promise<string[]> {
  const names = await readdir(join(contentDir, FOLDER)).catch(() => [])
  return names.filter((name) => name.startsWith(`${id}.`) && name.endsWith('.md')).sort()
}

/** Past decisions, so that no question comes up twice. */
const SETTLED_FILE = `${FOLDER}/settled.json`
const SettledSchema = v.record(
  v.string(),
  v.strictObject({
    decision: v.picklist(['accepted', 'refused']),
    reason: v.string(),
    at: v.string(),
    listing: v.string(),
  }),
)

/** Past decisions by the question's id. @throws Error that names the file and what would be right */
export async function readSettled(
  contentDir: string,
): Promise<v.InferOutput<typeof SettledSchema>> {
  const text = await readIfThere(join(contentDir, SETTLED_FILE))
  const parsed = v.safeParse(SettledSchema, text === null ? {} : parseJson(text))
  if (parsed.success) return parsed.output
  const [issue] = parsed.issues
  throw new Error(`${SETTLED_FILE} ${v.getDotPath(issue) ?? 'file'}: ${issue.message}`)
}

/**
 * Settles questions whose answers change the content, and records them by id, so that two branches
 * that settle different questions can be merged. Drafts are deleted.
 */
export function settleInContent(
  place: ReviewPlace,
  questions: readonly Question[],
  { decision: { decision, reason }, at }: { decision: Decision; at: string },
  carryOut: (question: Question, writer: ContentWriter) => Promise<string[]>,
): Promise<Settled[]> {
  return withContent(place.contentDir, async (writer) => {
    const settled = await settleEach(questions, (question) => carryOut(question, writer))
    const done = settled.flatMap(({ question, fault }) => (fault === undefined ? [question] : []))
    const decided = done.map(({ id, listing }) => [id, { decision, reason, at, listing }])
    const known = await readSettled(place.contentDir)
    const all = Object.entries({ ...known, ...Object.fromEntries(decided) })
    const sorted = all.sort(([a], [b]) => (a < b ? -1 : 1))
    if (done.length > 0) await writer.write(SETTLED_FILE, renderJson(Object.fromEntries(sorted)))
    for (const { id } of done) await removeDrafts(place, writer, id)
    return settled
  })
}

/**
 * Puts a waiting file into the content after all checks of `npm run check`. If the same file is
 * already there, that is not an error: a run may have been killed after writing it.
 * @returns warnings, one line each
 * @throws OperatorError with every error
 */
export async function acceptFile(
  place: ReviewPlace,
  writer: ContentWriter,
  file: ReviewFile,
  check: (file: ReviewFile) => string[] = createFileCheck(place),
): Promise<string[]> {
  const warnings = check(file)
  const there = await readIfThere(join(place.contentDir, file.path))
  if (there !== null && there !== file.text)
    throw new OperatorError(
      `${file.path} already exists with a different text; rename the draft, or refuse the question`,
    )
  if (there === null) await writer.write(file.path, file.text)
  return [`${file.path} is in the content; the next build lists it`, ...warnings]
}

/**
 * Checks waiting files; the rest of the content is read once, with the first check.
 * @returns a check that returns warnings, one line each, and throws OperatorError with every error
 */
export function createFileCheck({ contentDir, allowPrivate }: ReviewPlace) {
  let known: Known | undefined
  /** @param rows the sources' rows for the file; by default those of the listing with the file's name */
  return (file: ReviewFile, rows?: readonly NamedRow[]): string[] => {
    known ??= readKnown(contentDir, { allowPrivate })
    const faults = checkText(known, file, rows)
    const lines = (severity: string) =>
      faults
        .filter((each) => each.severity === severity)
        .map((each) => formatFault(each, contentDir))
    const errors = lines('error')
    if (errors.length > 0)
      throw new OperatorError(`the file is not a listing yet:\n  ${errors.join('\n  ')}`)
    return lines('warning')
  }
}

type Known = ReturnType<typeof readKnown>

function readKnown(contentDir: string, rules: UrlRules) {
  const listed = readListed(contentDir, rules)
  return {
    parse: createListingParser(rules),
    tables: readTables(contentDir).partial,
    listings: listed.join().listings,
    taken: listed.place(undefined, true).taken,
  }
}

/**
 * What `npm run check` would report for a listing file that is not in the content yet: its own
 * errors, and existing listings for the same service.
 */
function checkText(
  { parse, tables, listings, taken }: Known,
  { path: file, text }: ReviewFile,
  rows: readonly NamedRow[] | undefined,
): Fault[] {
  const id = listingIdOf(file)
  if (!isListingId(id) || file !== listingFileOf(id))
    return [faultOf(file, 'expected listings/<prefix>/<slug>.md, such as listings/mcp/foo.md')]
  const { listing, partial, faults } = parse({ id, file }, text, rows ?? taken.get(id) ?? [])
  const read = listing ?? partial
  if (read === null) return faults
  // A source's row that shares anything with a listing would have been matched before.
  const others = rows === undefined ? listings.filter((other) => other.file !== file) : []
  const duplicates = findDuplicates([...others, read]).filter((each) => each.file === file)
  return [...faults, ...checkListing(read, tables), ...duplicates]
}
