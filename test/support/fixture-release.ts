import { cpSync, existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { objectPath, openObjects, readObjectSync } from '../../src/store/objects.ts'
import { readReleaseFile, readReleaseList } from '../../src/store/release-list.ts'
import { putRelease, readCurrent, switchTo } from '../../src/store/releases.ts'
import { FIXTURE_ENV } from './fixture-env.ts'

const FIXTURE = resolve(FIXTURE_ENV.OUT_DIR)

/** Gives a build into `outDir` the pages' code, the same for every content and address: bundling takes most of a build. */
export function copyPageCode(outDir: string): void {
  const folder = 'cache/page-bundle'
  if (existsSync(join(FIXTURE, folder)))
    cpSync(join(FIXTURE, folder), join(outDir, folder), { recursive: true })
}

/** Gives a build into `outDir` the fixture's release and caches: what builds left there before. */
export function copyFixture(outDir: string): void {
  cpSync(FIXTURE, outDir, { recursive: true, verbatimSymlinks: true })
}

/** The release that all tests share. */
export function readFixtureName(): string {
  const name = readCurrent(FIXTURE)
  if (name === null) throw new Error(`${FIXTURE} holds no release`)
  return name
}

/** A file of a release, whole. */
export function readReleasedFile(outDir: string, name: string, path: string): Buffer {
  return readObjectSync(outDir, findReleased(outDir, name, path))
}

/** Where the bytes of a file lie. */
export function releasedPath(outDir: string, name: string, path: string): string {
  return objectPath(outDir, findReleased(outDir, name, path).digest)
}

function findReleased(outDir: string, name: string, path: string) {
  const found = readReleaseList(outDir, name).find((file) => file.path === path)
  if (found === undefined) throw new Error(`the release ${name} has no ${path}`)
  return found
}

/**
 * Copies the fixture release into the store of `outDir`, where a test may do with it what it likes.
 *
 * @param edited other bytes of some of its files
 */
export function copyRelease(
  outDir: string,
  name: string,
  edited: Readonly<Record<string, string | Uint8Array>> = {},
): void {
  const fixture = readFixtureName()
  for (const folder of ['objects', 'server']) {
    // What an earlier copy brought is the same: an object is named after its bytes.
    if (existsSync(join(outDir, folder))) continue
    cpSync(join(FIXTURE, folder), join(outDir, folder), { recursive: true })
  }
  const objects = openObjects(outDir, new Set())
  const files = readReleaseList(FIXTURE, fixture).map((file) => {
    const bytes = edited[file.path]
    return bytes === undefined ? file : { path: file.path, ...objects.put(bytes) }
  })
  const { list: _list, ...release } = readReleaseFile(FIXTURE, fixture)
  putRelease(outDir, objects, { ...release, name }, files)
}

/** Switches `outDir/current` to a release in it. */
export const switchRelease = switchTo
