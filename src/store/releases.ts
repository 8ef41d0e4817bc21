import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import type { ReleaseFile, Stored } from '../domain/derived/release-file.ts'
import { isThere, type Objects, readObjectSync } from './objects.ts'
import {
  digestIn,
  type ListedFile,
  parseList,
  readReleaseFile,
  readRowsOr,
  releasePath,
  renderList,
  rowStarts,
} from './release-list.ts'

/**
 * `OUT_DIR/releases/<name>` describes a release, and `OUT_DIR/current` is a link to the current
 * one. Objects named by a list are never written to again. Callers hold the lock on the folder.
 */

/** Releases kept besides the current one, for servers still reading them and for rollbacks. */
const KEPT_RELEASES = 2

/** The name of the current release; null when the link is missing or broken. */
export function readCurrent(outDir: string): string | null {
  try {
    const name = basename(readlinkSync(join(outDir, 'current')))
    return statSync(releasePath(outDir, name)).isFile() ? name : null
  } catch {
    return null
  }
}

/** One rename: a reader sees the old link or the new one. */
export function switchTo(outDir: string, name: string): void {
  const link = join(outDir, '.current')
  rmSync(link, { force: true })
  symlinkSync(`releases/${name}`, link)
  renameSync(link, join(outDir, 'current'))
}

/**
 * Writes a release's list, and then its description under its name. Its page code is stored next to
 * the objects in separate files, as Node imports files: a server may not be able to write them.
 */
export function putRelease(
  outDir: string,
  objects: Objects,
  release: Omit<ReleaseFile, 'list'>,
  files: readonly ListedFile[],
): void {
  const list = putList(objects, files)
  for (const file of files)
    if (file.path.startsWith('server/') && !hasSize(join(outDir, file.path), file.size))
      writeWhole(join(outDir, file.path), readObjectSync(outDir, file))
  const file: ReleaseFile = { ...release, list }
  writeWhole(releasePath(outDir, release.name), JSON.stringify(file))
}

/** Rows of a list that are in memory as text at once. */
const ROWS_AT_ONCE = 10_000

function putList(objects: Objects, files: readonly ListedFile[]): Stored {
  const list = objects.begin()
  for (let from = 0; from < files.length; from += ROWS_AT_ONCE)
    list.write(renderList(files.slice(from, from + ROWS_AT_ONCE)))
  return list.finish()
}

/** A reader sees all of it or nothing. */
export function writeWhole(path: string, content: string | Uint8Array): void {
  mkdirSync(dirname(path), { recursive: true })
  const unfinished = join(dirname(path), `.next-${basename(path)}`)
  writeFileSync(unfinished, content)
  renameSync(unfinished, path)
}

function hasSize(path: string, size: number): boolean {
  return statSync(path, { throwIfNoEntry: false })?.size === size
}

/**
 * How closely a release is checked: every byte, or only the length of each object, which takes
 * microseconds per file and finds what a full disk, a power cut or somebody's `rm` left.
 */
export type Look = 'bytes' | 'lengths'

/** Names of the existing objects of a release; null where its list is missing. */
export function findObjects(outDir: string, name: string | null, look: Look): Found | null {
  try {
    if (name === null) return null
    const { list } = readReleaseFile(outDir, name)
    const files = parseList(readObjectSync(outDir, list))
    const sizes = new Map(files.map(({ digest, size }) => [digest, size]))
    const sound = [...sizes].filter(([digest, size]) => isSound(outDir, { digest, size }, look))
    const code = files.filter(({ path }) => path.startsWith('server/'))
    return {
      sound: new Set(sound.map(([digest]) => digest)).add(list.digest),
      isComplete:
        sound.length === sizes.size &&
        code.every(({ path, size }) => hasSize(join(outDir, path), size)),
    }
  } catch {
    return null
  }
}

export interface Found {
  sound: Set<string>
  /** Nothing is missing or damaged. */
  isComplete: boolean
}

function isSound(outDir: string, stored: { digest: string; size: number }, look: Look): boolean {
  if (!isThere(outDir, stored)) return false
  if (look === 'lengths') return true
  try {
    return readObjectSync(outDir, stored).length === stored.size
  } catch {
    return false
  }
}

/**
 * Removes all but the releases that are kept, and every object that none of them names: those of a run
 * that was killed too.
 *
 * @param names of releases that are kept, however old they are, in case of a rollback
 */
export function collectGarbage(outDir: string, names: readonly (string | null)[]): void {
  const releases = join(outDir, 'releases')
  const others = readdirSync(releases)
    .filter((name) => !names.includes(name))
    .map((name) => ({ name, at: statSync(join(releases, name)).mtimeMs }))
    .sort((a, b) => b.at - a.at)
    .map(({ name }) => name)
  const room = KEPT_RELEASES + 1 - new Set(names.filter((name) => name !== null)).size
  for (const name of others.slice(room)) rmSync(join(releases, name), { recursive: true })
  const kept = readdirSync(releases)
  const [digests, code] = [new Set<string>(), new Set<string>()]
  for (const name of kept) {
    const list = listOf(outDir, name)
    if (list !== null) digests.add(list)
    for (const row of readRowsOr(outDir, name)) {
      digests.add(digestIn(row))
      if (rowStarts(row, 'server/')) code.add(row.split('/')[1] ?? '')
    }
  }
  removeOthers(join(outDir, 'server'), code)
  for (const folder of readNames(join(outDir, 'objects')))
    if (/^[0-9a-f]{2}$/.test(folder)) removeOthers(join(outDir, 'objects', folder), digests)
}

function listOf(outDir: string, name: string): string | null {
  try {
    return readReleaseFile(outDir, name).list.digest
  } catch {
    return null
  }
}

function removeOthers(folder: string, kept: ReadonlySet<string>): void {
  for (const name of readNames(folder))
    if (!kept.has(name)) rmSync(join(folder, name), { recursive: true, force: true })
}

/** Removes leftovers of killed runs, and nothing else: `OUT_DIR` may be anybody's folder. */
export function removeLeftovers(outDir: string): void {
  const left = [
    ...readNames(outDir).filter((name) => /^\.current(?:\.\d+)?$/.test(name)),
    ...['releases', 'objects'].flatMap((folder) =>
      readNames(join(outDir, folder))
        .filter((name) => name.startsWith('.'))
        .map((name) => join(folder, name)),
    ),
  ]
  for (const path of left) rmSync(join(outDir, path), { recursive: true, force: true })
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}
