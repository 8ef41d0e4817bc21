import { createHash } from 'node:crypto'
import { cpSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { listFiles, readCurrent, switchTo } from '../../src/build/folder.ts'
import { FIXTURE_ENV } from './fixture-env.ts'

const FIXTURE = resolve(FIXTURE_ENV.OUT_DIR)

/** Gives a build into `outDir` the fixture's release, as a build before it left it. */
export function copyFixture(outDir: string): void {
  cpSync(FIXTURE, outDir, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true })
}

/** The release that all tests share. */
export function readFixtureName(): string {
  return currentOf(FIXTURE)
}

/** The release that is current in a folder. */
export function currentOf(outDir: string): string {
  const name = readCurrent(outDir)
  if (name === null) throw new Error(`${outDir} holds no release`)
  return name
}

/** A file of a release, whole. */
export function readReleasedFile(outDir: string, name: string, path: string): Buffer {
  return readFileSync(releasedPath(outDir, name, path))
}

export function releasedPath(outDir: string, name: string, path: string): string {
  return join(outDir, 'releases', name, path)
}

/** The current release's files by path. */
export function readCurrentFiles(outDir: string): { path: string; bytes: Buffer }[] {
  const folder = join(outDir, 'releases', currentOf(outDir))
  return listFiles(folder).map((path) => ({ path, bytes: readFileSync(join(folder, path)) }))
}

/** The digest of each file of the current release by path. */
export function hashCurrentFiles(outDir: string): Map<string, string> {
  return new Map(readCurrentFiles(outDir).map(({ path, bytes }) => [path, digestOf(bytes)]))
}

/** The same without what tells of the build or comes from releases before. */
export function hashOwnFiles(outDir: string): Map<string, string> {
  const others =
    /^release\.json$|^data\/pages\.json$|\/_astro\/|^public\/pagefind\/\d+\/(?:fragment|index|filter)\//
  return new Map([...hashCurrentFiles(outDir)].filter(([path]) => !others.test(path)))
}

/**
 * Copies the fixture release to `outDir`, where a test may do with it what it likes.
 *
 * @param edited other bytes of some of its files
 */
export function copyRelease(
  outDir: string,
  name: string,
  edited: Readonly<Record<string, string | Uint8Array>> = {},
): void {
  const folder = join(outDir, 'releases', name)
  cpSync(join(FIXTURE, 'releases', readFixtureName()), folder, { recursive: true })
  const file = join(folder, 'release.json')
  const release = JSON.parse(readFileSync(file, 'utf8'))
  for (const [path, content] of Object.entries(edited)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), content)
    if (path in release.checksums) release.checksums[path] = digestOf(content)
  }
  writeFileSync(file, JSON.stringify(release))
}

function digestOf(content: string | Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}

/** Switches `outDir/current` to a release in it. */
export const switchRelease = switchTo
