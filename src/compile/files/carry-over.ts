import { linkSync, mkdirSync, readFileSync, rmSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import * as v from 'valibot'
import { type ReleaseFile, ReleaseFileSchema } from '../../domain/derived/release-file.ts'
import { parseJson } from '../../domain/wire/parse-json.ts'
import { type StaticFile, StaticFileSchema } from '../../domain/wire/static-file.ts'
import { FILES_WORKER, inThread } from './in-thread.ts'
import { digestOf } from './release-writer.ts'

/** What the compressed neighbours of a file hash to: a row of `data/copies.ndjson`. */
export const CopiesSchema = v.strictObject({ file: v.string(), br: v.string(), gz: v.string() })
export type Copies = v.InferOutput<typeof CopiesSchema>

/** A file of the former release that the new one already links to, copies included. */
export interface CarriedFile {
  entry: StaticFile
  /** Null where it has none. */
  copies: Copies | null
}

export interface Carrying {
  /** The former release; null without one. */
  from: string | null
  /** The public folder of the new one, not there yet. */
  to: string
  /** What must have made the compressed copies, see `COMPRESSION`. */
  compression: string
}

/**
 * Links what the release before publishes into a new one, in a thread of its own, while the content
 * is still being read: most files of most releases are those of the one before. None is read: with
 * 15,000 listings a cold disk took a minute for it. A file that was written to since its release was
 * published is not linked; one that the disk changed is found by the server that reads it.
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
export function linkEarlier({ from, to, compression }: Carrying & { from: string }): CarriedFile[] {
  const release = v.parse(ReleaseFileSchema, parseJson(read(from, 'data/release.json').toString()))
  if (release.compression !== compression) return []
  const made = new Set<string>()
  // The last file that a build writes.
  const published = statSync(join(from, 'data/release.json')).mtimeMs
  return readManifest(from, release)
    .filter((file) => isSound(join(from, 'public'), file, published))
    .filter((file) => link(join(from, 'public'), to, file, made))
}

/** The public files of a release, as it describes them. @throws where the description is damaged */
function readManifest(dir: string, { files }: Pick<ReleaseFile, 'files'>): CarriedFile[] {
  const readRows = (file: string) => {
    const bytes = read(dir, file)
    if (files[file]?.digest !== digestOf(bytes)) throw new Error(`${file} is damaged`)
    return bytes.toString().split('\n').filter(Boolean).map(parseJson)
  }
  const copies = v.parse(v.array(CopiesSchema), readRows('data/copies.ndjson'))
  const copiesOf = new Map(copies.map((row) => [row.file, row]))
  const entries = v.parse(v.array(StaticFileSchema), readRows('data/files.ndjson'))
  return entries.map((entry) => ({ entry, copies: copiesOf.get(entry.file) ?? null }))
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
