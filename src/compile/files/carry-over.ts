import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { type ReleaseFile, ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import type { StaticFile } from '../../domain/wire/static-file.ts'
import { FILES_WORKER, inThread } from './in-thread.ts'
import { type Lines, type Manifest, readLines } from './manifest.ts'
import { digestOf, removeWithCopies } from './release-writer.ts'

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
 * @returns what the new one links to: nothing where there is no release, or one that is damaged or of
 *   another making
 */
export async function carryOver(carrying: Carrying): Promise<Carried> {
  if (carrying.from === null) return NOTHING
  try {
    const ended = `${carrying.to}: a thread ended before its files`
    return await inThread<Carried>(FILES_WORKER, { work: 'carry', ...carrying }, ended)
  } catch {
    rmSync(carrying.to, { recursive: true, force: true })
    return NOTHING
  }
}

/** The manifest of the release before as it lies there. */
export interface Carried extends Manifest {
  /** Places of files that could not be carried over. */
  left: readonly number[]
}

export const NOTHING: Carried = { files: Buffer.of(), copies: Buffer.of(), left: [] }

/** The thread's work. @throws where the release before can't be read, or nothing can be linked */
export function linkEarlier({
  from,
  spare,
  to,
  compression,
}: Carrying & { from: string }): Carried {
  const { manifest, lines, published, ...release } = readManifest(from)
  if (release.compression !== compression) return NOTHING
  const taken = takeOver(spare, to, lines)
  const made = new Set<string>()
  const root = join(from, 'public')
  const left: number[] = []
  for (let place = 0; place < lines.count; place++) {
    if (taken.has(place)) continue
    const entry = lines.entryAt(place)
    if (!(isSound(root, entry, published) && link(root, to, entry, made))) left.push(place)
  }
  return { ...manifest, left }
}

/**
 * Moves the public folder of a release that is kept no longer to `to`, and removes what is not in it
 * as the lines say. @returns places of the files that are
 */
function takeOver(spare: string, to: string, wanted: Lines): Set<number> {
  const taken = new Set<number>()
  try {
    const { lines, published } = readManifest(spare)
    renameSync(join(spare, 'public'), to)
    let at = 0
    for (let place = 0; place < lines.count; place++) {
      if (!isSameLine(lines, place, wanted, at)) at = wanted.find(lines.fileAt(place))
      const entry = lines.entryAt(place)
      if (isSameLine(lines, place, wanted, at) && isSound(to, entry, published)) taken.add(at++)
      else removeWithCopies(to, entry.file)
    }
    return taken
  } catch {
    rmSync(to, { recursive: true, force: true })
    return new Set()
  }
}

function isSameLine(one: Lines, place: number, other: Lines, at: number): boolean {
  const [a, b] = [one.slice(place, place + 1), other.slice(at, at + 1)]
  return Buffer.compare(a.files, b.files) === 0 && Buffer.compare(a.copies, b.copies) === 0
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
  const manifest = {
    files: readRows('data/files.ndjson'),
    copies: readRows('data/copies.ndjson'),
  }
  return { manifest, lines: readLines(manifest), compression, published }
}

/** A file and its copies, as long as the manifest says and not written to since. */
function isSound(dir: string, { file, size, br, gz }: StaticFile, published: number): boolean {
  return Object.entries({ '': size, '.br': br, '.gz': gz }).every(([ending, length]) => {
    if (ending !== '' && length === 0) return true
    const found = statSync(`${dir}/${file}${ending}`, { throwIfNoEntry: false })
    return found?.size === length && found.mtimeMs <= published
  })
}

/** False on a disk without hard links, or with too many of them. */
function link(from: string, to: string, { file, br, gz }: StaticFile, made: Set<string>): boolean {
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
