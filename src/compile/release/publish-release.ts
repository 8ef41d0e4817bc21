import {
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'
import { largestOf } from '../../domain/wire/extremes.ts'
import { isWhole, type Look } from './is-whole.ts'
import { recordChanges } from './record-changes.ts'

/**
 * `OUT_DIR/releases/<name>` holds a release, `OUT_DIR/current` is a link to the one being served.
 * What was published is never written to again: a damaged release gets a successor beside it,
 * `<name>.2`. Callers hold the lock on the folder.
 */

/** Releases kept beside the current one, for servers that still read it and for going back. */
const KEPT_RELEASES = 2

/** A whole release of this name, wherever it was published; null without one. */
export function findRelease(outDir: string, name: string, look: Look): string | null {
  const folders = readReleases(outDir).filter((folder) => isNamed(folder, name))
  return folders.find((folder) => isWhole(join(outDir, 'releases', folder), name, look)) ?? null
}

/** The folder of the release being served; null when the link is missing or leads nowhere. */
export function readCurrent(outDir: string): string | null {
  try {
    const folder = readlinkSync(join(outDir, 'current')).split('/').at(-1) ?? ''
    return readReleases(outDir).includes(folder) ? folder : null
  } catch {
    return null
  }
}

/** Removes what builds left that were killed, and nothing else: `OUT_DIR` may be anybody's folder. */
export function removeLeftovers(outDir: string): void {
  const releases = join(outDir, 'releases')
  const left = [
    ...readNames(outDir)
      .filter((name) => /^\.current(?:\.\d+)?$/.test(name))
      .map((name) => join(outDir, name)),
    ...readNames(releases)
      .filter((name) => /^\.[0-9a-f]{20}(?:\.\d+)?$/.test(name))
      .map((name) => join(releases, name)),
  ]
  for (const path of left) rmSync(path, { recursive: true, force: true })
}

/** Makes an empty folder to build in, on the same disk as the releases. */
export function createWorkDir(outDir: string, name: string): string {
  const dir = join(outDir, 'releases', `.${name}`)
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  return dir
}

/**
 * Moves a finished work folder in place, switches to it and logs what changed. Old releases go last:
 * by then the new one is live, and a disk takes its time to forget. The newest of them is set aside:
 * with 15,000 listings the next build would make again what was removed here, in some seconds.
 */
export function publishRelease(outDir: string, name: string, workDir: string): void {
  const before = readCurrent(outDir)
  const taken = readReleases(outDir).filter((folder) => isNamed(folder, name))
  const folder = taken.length === 0 ? name : `${name}.${nextNumber(taken)}`
  renameSync(workDir, join(outDir, 'releases', folder))
  switchTo(outDir, folder)
  recordChanges(outDir, folder, new Date())
  // What servers read until they look again is kept, however old it is: somebody may have gone back.
  const others = othersThan([folder, before], outDir)
  const [first, ...older] = others.slice(before === null ? KEPT_RELEASES : KEPT_RELEASES - 1)
  if (first === undefined) return
  for (const old of [sparePath(outDir), ...older]) rmSync(old, { recursive: true, force: true })
  renameSync(first, sparePath(outDir))
}

/** A release that is kept no longer: the next build takes over what it can use (`carryOver`). */
export function sparePath(outDir: string): string {
  return join(outDir, 'releases/.spare')
}

/** One rename: a reader sees the old link or the new one. */
export function switchTo(outDir: string, folder: string): void {
  const link = join(outDir, '.current')
  rmSync(link, { force: true })
  symlinkSync(`releases/${folder}`, link, 'dir')
  renameSync(link, join(outDir, 'current'))
}

/** Newest first. */
function othersThan(kept: readonly (string | null)[], outDir: string): string[] {
  return readReleases(outDir)
    .filter((folder) => !kept.includes(folder))
    .map((folder) => join(outDir, 'releases', folder))
    .map((path) => ({ path, at: statSync(path).mtimeMs }))
    .sort((a, b) => b.at - a.at)
    .map(({ path }) => path)
}

function readReleases(outDir: string): string[] {
  return readNames(join(outDir, 'releases')).filter((name) => !name.startsWith('.'))
}

function readNames(folder: string): string[] {
  try {
    return readdirSync(folder)
  } catch {
    return []
  }
}

export function isNamed(folder: string, name: string): boolean {
  return folder === name || folder.startsWith(`${name}.`)
}

function nextNumber(folders: readonly string[]): number {
  return largestOf(folders.map((folder) => Number(folder.split('.')[1] ?? 1))) + 1
}
