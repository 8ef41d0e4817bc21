import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { type ReleaseFile, ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import type { Copies, StaticFile } from '../../domain/wire/static-file.ts'
import { FILES_WORKER, inThread } from './in-thread.ts'
import { digestOf, removeWithCopies } from './release-writer.ts'

/** A file of the former release that the new one already links to, copies included. */
export interface CarriedFile {
  entry: StaticFile
  /** Null where it has none. */
  copies: Copies | null
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
 * Links what the release before publishes into a new one, in a thread of its own, while the content
 * is still being read: most files of most releases are those of the one before. None is read: with
 * 15,000 listings a cold disk took a minute for it. A file that was written to since its release was
 * published is not linked; one that the disk changed is found by the server that reads it. Where a
 * release is kept no longer, its folder is taken over, most of whose files are the same links.
 *
 * @returns nothing where there is no release, or one that is damaged or of another making
 */
export async function carryOver(carrying: Carrying): Promise<CarriedFile[]> {
  if (carrying.from === null) return []
  try {
    const ended = `${carrying.to}: a thread ended before its files`
    return await inThread<CarriedFile[]>(FILES_WORKER, { work: 'carry', ...carrying }, ended)
  } catch {
    rmSync(carrying.to, { recursive: true, force: true })
    return []
  }
}

/** The thread's work. @throws where the release before can't be read, or nothing can be linked */
export function linkEarlier({
  from,
  spare,
  to,
  compression,
}: Carrying & { from: string }): CarriedFile[] {
  const { files, published, ...release } = readManifest(from)
  if (release.compression !== compression) return []
  const taken = takeOver(spare, to, files)
  const made = new Set<string>()
  return files.filter(
    (file) =>
      taken.has(file.entry.file) ||
      (isSound(join(from, 'public'), file, published) &&
        link(join(from, 'public'), to, file, made)),
  )
}

/**
 * Moves the public folder of a release that is kept no longer to `to`, and removes what is not in it
 * as `files` say. @returns the files that are
 */
function takeOver(spare: string, to: string, files: readonly CarriedFile[]): Set<string> {
  const taken = new Set<string>()
  try {
    const old = readManifest(spare)
    renameSync(join(spare, 'public'), to)
    const wanted = new Map(files.map((file) => [file.entry.file, file]))
    for (const file of old.files) {
      const isThere = isSame(file, wanted.get(file.entry.file)) && isSound(to, file, old.published)
      if (isThere) taken.add(file.entry.file)
      else removeWithCopies(to, file.entry.file)
    }
    return taken
  } catch {
    rmSync(to, { recursive: true, force: true })
    return new Set()
  }
}

function isSame(one: CarriedFile, other: CarriedFile | undefined): boolean {
  return (
    one.entry.digest === other?.entry.digest &&
    one.copies?.br === other.copies?.br &&
    one.copies?.gz === other.copies?.gz
  )
}

/**
 * The public files of a release as it describes them, and when it was published (ms).
 * @throws where the description is missing or damaged
 */
function readManifest(dir: string) {
  const { files: described, compression }: ReleaseFile = v.parse(
    ReleaseFileSchema,
    parseJson(read(dir, 'data/release.json').toString()),
  )
  // JSON.parse is typed `any`; the rows were written from these very types, and are verified.
  const readRows = <Row>(file: string): Row[] => {
    const bytes = read(dir, file)
    if (described[file]?.digest !== digestOf(bytes)) throw new Error(`${file} is damaged`)
    return JSON.parse(`[${bytes.toString().trimEnd().replaceAll('\n', ',')}]`)
  }
  const copies = new Map(readRows<Copies>('data/copies.ndjson').map((row) => [row.file, row]))
  const files = readRows<StaticFile>('data/files.ndjson').map(
    (entry): CarriedFile => ({ entry, copies: copies.get(entry.file) ?? null }),
  )
  // The last file that a build writes.
  return { files, compression, published: statSync(join(dir, 'data/release.json')).mtimeMs }
}

/** A file and its copies, as long as the manifest says and not written to since. */
function isSound(dir: string, { entry, copies }: CarriedFile, published: number): boolean {
  const { file, size, br, gz } = entry
  if ((br > 0 || gz > 0) !== (copies !== null)) return false
  return Object.entries({ '': size, '.br': br, '.gz': gz }).every(([ending, length]) => {
    if (ending !== '' && length === 0) return true
    const found = statSync(`${dir}/${file}${ending}`, { throwIfNoEntry: false })
    return found?.size === length && found.mtimeMs <= published
  })
}

/** False on a disk without hard links, or with too many of them. */
function link(from: string, to: string, { entry }: CarriedFile, made: Set<string>): boolean {
  const { file, br, gz } = entry
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
