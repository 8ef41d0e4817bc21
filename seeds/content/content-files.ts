import { existsSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { lstat, mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { takeFileLock } from '../../functions/store/sqlite.ts'
import { readMoves } from '../../src/content/check.ts'
import { formatFault } from '../../src/content/faults.ts'
import { joinContent, rowsOf } from '../../src/content/join.ts'
import { readWritten } from '../../src/content/listing-file.ts'
import { readEvidence, readSources, readTombstones } from '../../src/content/read.ts'
import { readChecked } from '../../src/content/tables.ts'
import { CategoryRowSchema, SourceRowSchema } from '../../src/domain/derived/tables.ts'
import type { UrlRules } from '../../src/domain/listing/target-url.ts'
import { placeRows } from '../../src/domain/sources/join-rows.ts'
import { orderRows, type SourceFile } from '../../src/domain/sources/source-row.ts'
import { TaskRowSchema } from '../../src/domain/tasks/task.ts'
import { isJsonObject, parseJson } from '../../src/domain/wire/json.ts'
import { OperatorError } from '../../src/domain/wire/problems.ts'

/** A content folder's listings and the sources' facts about them, for importers and reviews. */
export type Listed = ReturnType<typeof readListed>

/** @throws OperatorError for a damaged source file: a run would lose its facts */
export function readListed(contentDir: string, rules: UrlRules) {
  const { written, broken } = readWritten(contentDir, rules)
  const { values: sources, faults } = readSources(contentDir, rules)
  const [fault] = faults
  if (fault !== undefined)
    throw new OperatorError(
      `${formatFault(fault, contentDir)}; restore it from version control, or delete it`,
    )
  const { values: tombstones } = readTombstones(contentDir, new Set())
  const order = readTables(contentDir).sources.map(({ id }) => id)
  const files = [...written, ...broken].sort((a, b) => (a.id < b.id ? -1 : 1))
  const place = (of: ReadonlyMap<string, SourceFile>, opens: boolean) =>
    placeRows(files, orderRows(rowsOf(of), order), { moves: readMoves(tombstones), opens })
  return {
    written: new Map(written.map((file) => [file.id, file])),
    sources,
    /** @param opens whether rows without a listing create one */
    place: (changed: ReadonlyMap<string, SourceFile> = sources, opens = false) =>
      place(changed, opens),
    /** Valid listings, and the valid parts of others. */
    join() {
      const { values: measured } = readEvidence(contentDir, new Set(files.map(({ id }) => id)))
      return joinContent({ written, broken, sources, order, measured, tombstones })
    },
  }
}

export function readTables(contentDir: string) {
  const read = <Schema extends v.GenericSchema>(name: string, row: Schema) =>
    readYaml(contentDir, `tables/${name}.yaml`, v.array(row))
  const categories = read('categories', CategoryRowSchema)
  return {
    categories: new Set(categories.map(({ id }) => id)),
    sources: read('sources', SourceRowSchema),
    tasks: read('tasks', TaskRowSchema),
  }
}

/** @throws OperatorError that names file, line, and what would be right */
function readYaml<Schema extends v.GenericSchema>(
  contentDir: string,
  file: string,
  schema: Schema,
): v.InferOutput<Schema> {
  const path = join(contentDir, file)
  if (!existsSync(path))
    throw new OperatorError(`${path}: expected a content folder with this file`)
  const { value, faults } = readChecked(path, { file, schema })
  if (value !== null) return value
  throw new OperatorError(faults.map((fault) => formatFault(fault, contentDir)).join('\n'))
}

export async function readIfThere(file: string): Promise<string | null> {
  return existsSync(file) ? readFile(file, 'utf8') : null
}

/** Locked while a run writes: concurrent runs would undo each other's changes. */
const RUNNING = 'sources/.running'

/** Writes into a content folder, where nobody else writes until `release`. */
export interface ContentWriter {
  /** Writes a whole file: a killed run leaves neither half a file nor a stray listing. */
  write(file: string, text: string): Promise<void>
  remove(file: string): Promise<void>
  release(): Promise<void>
}

/**
 * Takes the content folder for one run, and cleans up after a killed one.
 * @throws Error if another run is writing to it
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

/** If a folder were a link, a file would be written outside the content. */
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

/** @returns the members of a file that machines keep; an empty object if the file can't be read */
export function membersOf(text: string | undefined): Record<string, unknown> {
  const value = text === undefined ? undefined : parseJson(text)
  return isJsonObject(value) ? { ...value } : {}
}

function beside(listing: string, folder: string): string {
  return listing.replace(/^listings\//, `${folder}/`).replace(/\.md$/, '.json')
}

/**
 * People's orders to the importers. `never_list` keeps a server out, for example because its owner
 * wishes it; `leave_as_is` keeps importers away from a listing that somebody else maintains.
 */
const HANDS_OFF = 'sources/hands-off.yaml'
const HandsOffSchema = v.nullable(
  v.array(
    v.strictObject({
      /** A name at the source, `namespace/*`, or a remote's host. */
      match: v.pipe(v.string(), v.minLength(3)),
      rule: v.picklist(['never_list', 'leave_as_is'], 'expected never_list or leave_as_is'),
      reason: v.pipe(v.string(), v.minLength(1, 'expected a reason')),
    }),
  ),
  [],
)

export type HandsOff = v.InferOutput<typeof HandsOffSchema>

export function readHandsOff(contentDir: string): HandsOff {
  const isThere = existsSync(join(contentDir, HANDS_OFF))
  return isThere ? readYaml(contentDir, HANDS_OFF, HandsOffSchema) : []
}
