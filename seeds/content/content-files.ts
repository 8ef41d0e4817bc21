import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { parseDocument } from 'yaml'
import { takeFileLock } from '../../functions/store/lock.ts'
import { SourceRowSchema } from '../../src/domain/derived/source-table.ts'
import { CategoryRowSchema } from '../../src/domain/derived/tables.ts'
import { sampleAddress } from '../../src/domain/listing/invoke.ts'
import { listingIdOf } from '../../src/domain/listing/listing-text.ts'
import { toAsciiAddress } from '../../src/domain/listing/target-url.ts'
import { TaskRowSchema } from '../../src/domain/tasks/task.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/json.ts'
import type { Seed } from '../facts/map-rows.ts'

/** The category ids, the source rows and the tasks an importer may use. */
export function readTables(contentDir: string) {
  const read = (name: string): unknown => {
    const file = join(contentDir, 'tables', `${name}.yaml`)
    const text = existsSync(file) ? readFileSync(file, 'utf8') : null
    if (text === null) throw new Error(`${file}: expected a content folder with this table in it`)
    return parseDocument(text, { schema: 'core' }).toJS({ maxAliasCount: 0 })
  }
  const categories = v.parse(v.array(CategoryRowSchema), read('categories'))
  const sources = v.parse(v.array(SourceRowSchema), read('sources'))
  const tasks = v.parse(v.array(TaskRowSchema), read('tasks'))
  return { categories: new Set(categories.map(({ id }) => id)), sources, tasks }
}

export async function readIfThere(file: string): Promise<string | null> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw error
  }
}

/** Locked while a run writes: two at once would undo each other's changes. */
const RUNNING = 'sources/.running'

/** Writes into a content folder; nobody else does until it is released. */
export interface ContentWriter {
  /** Whole files only: a run that is killed leaves neither half a file nor a stray listing. */
  write(file: string, text: string): Promise<void>
  remove(file: string): Promise<void>
  release(): Promise<void>
}

/**
 * Takes the content folder for one run, and cleans up after a killed one.
 *
 * @throws Error when another run is writing to it.
 */
export async function openContent(contentDir: string): Promise<ContentWriter> {
  const sources = join(contentDir, 'sources')
  await refuseLink(sources)
  await mkdir(sources, { recursive: true })
  const running = join(contentDir, RUNNING)
  const lock = takeFileLock(running)
  if (lock === null)
    throw new Error(`${running}: expected no other run on this content; wait until it is done`)
  const abandoned = (await readdir(sources)).filter((name) => /^\.\d+\.tmp$/.test(name))
  for (const name of abandoned) await rm(join(sources, name))
  const temporary = join(sources, `.${process.pid}.tmp`)
  const known = new Set<string>()
  const prepare = async (folder: string) => {
    if (known.has(folder)) return
    await refuseLink(folder)
    await mkdir(folder, { recursive: true })
    known.add(folder)
  }
  return {
    async write(file, text) {
      const target = join(contentDir, file)
      await prepare(dirname(target))
      // Synchronous: a turn of the event loop costs more than writing two kilobytes.
      writeFileSync(temporary, text)
      renameSync(temporary, target)
    },
    async remove(file) {
      const target = join(contentDir, file)
      await prepare(dirname(target))
      rmSync(target, { force: true })
    },
    async release() {
      await rm(temporary, { force: true })
      await rm(running, { force: true })
      lock.release()
    },
  }
}

/** A folder that is a link would carry the write out of the content. */
async function refuseLink(folder: string): Promise<void> {
  const info = await lstat(folder).catch(() => null)
  if (info?.isSymbolicLink()) throw new Error(`${folder}: expected a folder, got a link`)
}

/** Does one thing in the content while no importer writes. */
export async function withContent<Result>(
  contentDir: string,
  work: (writer: ContentWriter) => Promise<Result>,
): Promise<Result> {
  const writer = await openContent(contentDir)
  try {
    return await work(writer)
  } finally {
    await writer.release()
  }
}

/** Files that machines keep for a listing, by the listing's own path. */
export function evidenceFileOf(listing: string): string {
  return beside(listing, 'evidence')
}

export function tombstoneFileOf(listing: string): string {
  return beside(listing, 'tombstones')
}

/** @example listingFileOf('mcp.a.b') → 'listings/mcp/a.b.md' */
export function listingFileOf(id: string): string {
  return `listings/${id.replace('.', '/')}.md`
}

export function renderJson(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`
}

/** @returns the members of a machine's file; none of one that can't be read. */
export function membersOf(text: string | undefined): Record<string, unknown> {
  const value = text === undefined ? undefined : parseJson(text)
  return isJsonObject(value) ? { ...value } : {}
}

/**
 * The tombstone of a listing: where it moved, or its content when its source withdrew it, so that a
 * return restores it.
 */
export function renderTombstone(
  file: string,
  {
    evidence,
    ...about
  }: { at: string; by: string; evidence?: string | undefined } & (
    | { replaced_by: string }
    | { listing: string }
  ),
): string {
  return renderJson({
    id: listingIdOf(file),
    reason: 'listing' in about ? 'withdrawn' : 'duplicate',
    ...about,
    ...(evidence !== undefined && { evidence: membersOf(evidence) }),
  })
}

function beside(listing: string, folder: string): string {
  return listing.replace(/^listings\//, `${folder}/`).replace(/\.md$/, '.json')
}

/** @throws Error naming file, place, and what would be right: `advice`, or the schema's message */
export function parseAs<Schema extends v.GenericSchema>(
  schema: Schema,
  value: unknown,
  file: string,
  advice?: string,
): v.InferOutput<Schema> {
  const result = v.safeParse(schema, value)
  if (result.success) return result.output
  const [issue] = result.issues
  throw new Error(`${file} ${v.getDotPath(issue) ?? 'file'}: ${advice ?? issue.message}`)
}

/**
 * People's orders to the importers. `never_list` keeps a server out (its owner asked);
 * `leave_as_is` keeps an importer away from a listing that somebody else now maintains.
 */
const HANDS_OFF = 'sources/hands-off.yaml'
const HandsOffSchema = v.array(
  v.strictObject({
    /** A name at the source, `namespace/*`, or the host of a remote. */
    match: v.pipe(v.string(), v.minLength(3)),
    rule: v.picklist(['never_list', 'leave_as_is'], 'expected never_list or leave_as_is'),
    reason: v.pipe(v.string(), v.minLength(1, 'expected a reason')),
  }),
)

export type HandsOff = v.InferOutput<typeof HandsOffSchema>

/** @throws Error that names the row and what would be right. */
export async function readHandsOff(contentDir: string): Promise<HandsOff> {
  const file = join(contentDir, HANDS_OFF)
  const text = await readIfThere(file)
  if (text === null) return []
  const document = parseDocument(text, { schema: 'core', merge: false, prettyErrors: false })
  const [error] = document.errors
  if (error !== undefined) throw new Error(`${file}: expected valid YAML: ${error.message}`)
  return parseAs(HandsOffSchema, document.toJS({ maxAliasCount: 0 }) ?? [], file)
}

export function findHandsOff(rules: HandsOff, seed: Seed): HandsOff[number] | undefined {
  return rules.find(({ match }) => isMatch(toAsciiAddress(match.toLowerCase()), seed))
}

function isMatch(match: string, { key, facts }: Seed): boolean {
  const name = key.toLowerCase()
  if (match.endsWith('/*')) return name.startsWith(match.slice(0, -1))
  if (match.includes('/')) return name === match
  return [
    facts.url,
    ...(facts.invoke ?? []).map((entry) => (entry.kind === 'mcp' ? sampleAddress(entry) : '')),
  ].some((url) => URL.parse(url)?.hostname === match)
}
