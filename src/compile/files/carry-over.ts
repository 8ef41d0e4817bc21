import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { type ReleaseFile, ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import type { Copies, StaticFile } from '../../domain/wire/static-file.ts'
import { FILES_WORKER, inThread } from './in-thread.ts'
import { digestOf, removeWithCopies } from './release-writer.ts'

/** A file as the manifest of its release lists it, line by line: most lines go from release to release. */
export interface ListedFile {
  /** Path below `public/`. */
  file: string
  /** Line of `data/files.ndjson`, a `StaticFile`. Lines are without their ends. */
  row: string
  /** Line of `data/copies.ndjson`; empty where it has none. */
  copies: string
}

export function toListedFile(entry: StaticFile, copies: Copies | null): ListedFile {
  const row = JSON.stringify(entry)
  return { file: entry.file, row, copies: copies === null ? '' : JSON.stringify(copies) }
}

export function readEntry({ row }: ListedFile): StaticFile {
  // JSON.parse is typed `any`; the row was written from this very type, and its bytes are verified.
  const entry: StaticFile = JSON.parse(row)
  return entry
}

export interface Carrying {
  /** The former release; null without one. */
  from: string | null
  /** A release that is kept no longer, which may not be there: its public folder becomes the new one's. */
  spare: string
  /** The public folder of the new one, not there yet. */
  to: string
  /** What must have made the compressed copies, see `COMPRESSION`. */
  compression: string
}

/**
 * Links what the release before publishes into a new one, in a thread of its own, while views
 * of the content are made: most files of most releases are those of the one before. None is read: with
 * 15,000 listings a cold disk took a minute for it. A file that was written to since its release was
 * published is not linked; one that the disk changed is found by the server that reads it. Where a
 * release is kept no longer, its folder is taken over, most of whose files are the same links.
 *
 * @returns the files that the new one links to, copies included: none where there is no release, or
 *   one that is damaged or of another making
 */
export async function carryOver(carrying: Carrying): Promise<ListedFile[]> {
  if (carrying.from === null) return []
  try {
    const ended = `${carrying.to}: a thread ended before its files`
    const work = { work: 'carry', ...carrying }
    const { files, copies, left } = await inThread<Carried>(FILES_WORKER, work, ended)
    const isLeft = new Set(left)
    return listFiles({ files, copies }).filter(({ file }) => !isLeft.has(file))
  } catch {
    rmSync(carrying.to, { recursive: true, force: true })
    return []
  }
}

/** The manifest of the release before as it lies there, and the files that could not be carried over. */
interface Carried extends ManifestRows {
  left: string[]
}

interface ManifestRows {
  files: Uint8Array
  copies: Uint8Array
}

/** The thread's work. @throws where the release before can't be read, or nothing can be linked */
export function linkEarlier({
  from,
  spare,
  to,
  compression,
}: Carrying & { from: string }): Carried {
  const { files, copies, published, ...release } = readManifest(from)
  const listed = listFiles({ files, copies })
  if (release.compression !== compression)
    return { files, copies, left: listed.map(({ file }) => file) }
  const taken = takeOver(spare, to, listed)
  const made = new Set<string>()
  const root = join(from, 'public')
  const left = listed.filter(
    (each) =>
      !taken.has(each.file) && !(isSound(root, each, published) && link(root, to, each, made)),
  )
  return { files, copies, left: left.map(({ file }) => file) }
}

/**
 * Moves the public folder of a release that is kept no longer to `to`, and removes what is not in it
 * as `files` say. @returns the files that are
 */
function takeOver(spare: string, to: string, files: readonly ListedFile[]): Set<string> {
  const taken = new Set<string>()
  try {
    const old = readManifest(spare)
    renameSync(join(spare, 'public'), to)
    const wanted = new Map(files.map((each) => [each.file, each]))
    for (const each of listFiles(old)) {
      const { row, copies } = wanted.get(each.file) ?? { row: '', copies: '' }
      const isSame = each.row === row && each.copies === copies
      if (isSame && isSound(to, each, old.published)) taken.add(each.file)
      else removeWithCopies(to, each.file)
    }
    return taken
  } catch {
    rmSync(to, { recursive: true, force: true })
    return new Set()
  }
}

/**
 * The manifest of a release, and when it was published (ms).
 * @throws where the description is missing or damaged
 */
function readManifest(dir: string) {
  const { files: described, compression }: ReleaseFile = v.parse(
    ReleaseFileSchema,
    parseJson(read(dir, 'data/release.json').toString()),
  )
  const readRows = (file: string): Buffer => {
    const bytes = read(dir, file)
    if (described[file]?.digest !== digestOf(bytes)) throw new Error(`${file} is damaged`)
    return bytes
  }
  // The last file that a build writes.
  const published = statSync(join(dir, 'data/release.json')).mtimeMs
  const [files, copies] = [readRows('data/files.ndjson'), readRows('data/copies.ndjson')]
  return { files, copies, compression, published }
}

function listFiles({ files, copies }: ManifestRows): ListedFile[] {
  const copiesOf = new Map(toRows(copies).map((row) => [fileOf(row), row]))
  return toRows(files).map((row) => {
    const file = fileOf(row)
    return { file, row, copies: copiesOf.get(file) ?? '' }
  })
}

function toRows(bytes: Uint8Array): string[] {
  const rows = Buffer.from(bytes).toString().split('\n')
  rows.pop()
  return rows
}

const ROW_START = '{"file":"'

/** Without parsing all of it, where the name has no escape. */
function fileOf(row: string): string {
  if (row.includes('\\')) return JSON.parse(row).file
  return row.slice(ROW_START.length, row.indexOf('"', ROW_START.length))
}

/** A file and its copies, as long as the manifest says and not written to since. */
function isSound(dir: string, listed: ListedFile, published: number): boolean {
  const { file, size, br, gz } = readEntry(listed)
  if ((br > 0 || gz > 0) !== (listed.copies !== '')) return false
  return Object.entries({ '': size, '.br': br, '.gz': gz }).every(([ending, length]) => {
    if (ending !== '' && length === 0) return true
    const found = statSync(`${dir}/${file}${ending}`, { throwIfNoEntry: false })
    return found?.size === length && found.mtimeMs <= published
  })
}

/** False on a disk without hard links, or with too many of them. */
function link(from: string, to: string, listed: ListedFile, made: Set<string>): boolean {
  const { file, br, gz } = readEntry(listed)
  const names = [file, ...(br > 0 ? [`${file}.br`] : []), ...(gz > 0 ? [`${file}.gz`] : [])]
  const folder = dirname(`${to}/${file}`)
  if (!made.has(folder)) {
    mkdirSync(folder, { recursive: true })
    made.add(folder)
  }
  try {
    for (const name of names) linkSync(`${from}/${name}`, `${to}/${name}`)
    return true
  } catch {
    // What was linked must not be written to.
    for (const name of names) rmSync(join(to, name), { force: true })
    return false
  }
}

function read(dir: string, file: string): Buffer {
  return readFileSync(join(dir, file))
}
