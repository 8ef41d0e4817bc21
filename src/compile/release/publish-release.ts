import {
  existsSync,
  mkdirSync,
  readdirSync,
  readlinkSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
} from 'node:fs'
import { join } from 'node:path'

/** Releases kept beside the current one, for servers that still read it and for going back. */
const KEPT_RELEASES = 2

/** An abandoned work folder of a build that was killed (milliseconds). */
const ABANDONED_AFTER = 6 * 3_600_000

/** `OUT_DIR/current` is a link to the release being served; switching it is one rename. */
export function readCurrentRelease(outDir: string): string | null {
  const link = join(outDir, 'current')
  if (!existsSync(link)) return null
  return readlinkSync(link).split('/').at(-1) ?? null
}

export function releaseDir(outDir: string, name: string): string {
  return join(outDir, 'releases', name)
}

/** Makes an empty folder to build in, on the same disk as the releases. */
export function createWorkDir(outDir: string, name: string): string {
  const dir = join(outDir, 'releases', `.${name}.${process.pid}`)
  rmSync(dir, { recursive: true, force: true })
  mkdirSync(dir, { recursive: true })
  return dir
}

/** Moves a finished work folder in place and switches to it; old releases are removed. */
export function publishRelease(outDir: string, name: string, workDir: string): void {
  const target = releaseDir(outDir, name)
  rmSync(target, { recursive: true, force: true })
  renameSync(workDir, target)
  switchTo(outDir, name)
  removeOld(outDir, name)
}

export function switchTo(outDir: string, name: string): void {
  const link = join(outDir, `.current.${process.pid}`)
  rmSync(link, { force: true })
  symlinkSync(`releases/${name}`, link, 'dir')
  renameSync(link, join(outDir, 'current'))
}

function removeOld(outDir: string, current: string): void {
  const root = join(outDir, 'releases')
  const entries = readdirSync(root).map((name) => ({
    name,
    at: statSync(join(root, name)).mtimeMs,
  }))
  const old = entries
    .filter(({ name }) => !name.startsWith('.') && name !== current)
    .sort((a, b) => b.at - a.at)
    .slice(KEPT_RELEASES)
  const abandoned = entries.filter(
    ({ name, at }) => name.startsWith('.') && Date.now() - at > ABANDONED_AFTER,
  )
  for (const { name } of [...old, ...abandoned])
    rmSync(join(root, name), { recursive: true, force: true })
}
