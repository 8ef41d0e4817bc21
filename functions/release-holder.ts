import { readlinkSync } from 'node:fs'
import { join } from 'node:path'
import { loadRelease } from './load-release.ts'
import type { Log } from './log.ts'
import type { Release } from './release.ts'

/** How often the link to the current release is looked at (milliseconds). */
const LOOK_EVERY = 1000

export interface ReleaseHolder {
  current(): Release
  /** Folder of the release being served. */
  dir(): string
  /** Looks now: swaps to a new release, or keeps the old one and logs why. */
  refresh(): void
  close(): void
}

/**
 * Holds the release being served and picks up a new one when `OUT_DIR/current` is switched. The
 * new one is loaded whole before it is swapped in, so that no request sees a mixture; one that
 * cannot be loaded leaves the old one serving, and is tried again only when the link changes.
 *
 * @throws when the first release cannot be loaded.
 */
export function createReleaseHolder({
  outDir,
  baseUrl,
  log,
}: {
  outDir: string
  baseUrl: string
  log: Log
}): ReleaseHolder {
  const readTarget = () => readlinkSync(join(outDir, 'current'))
  let target = readTarget()
  let dir = join(outDir, target)
  let release = loadRelease(dir, baseUrl)
  const refresh = () => {
    const next = readTargetOr(readTarget, target)
    if (next === target) return
    target = next
    try {
      release = loadRelease(join(outDir, next), baseUrl)
      dir = join(outDir, next)
      log.info('release.swapped', { release: release.name })
    } catch (error) {
      log.error('release.refused', {
        release: next,
        serving: release.name,
        reason: error instanceof Error ? error.message : 'unreadable',
      })
    }
  }
  const timer = setInterval(refresh, LOOK_EVERY)
  timer.unref()
  return { current: () => release, dir: () => dir, refresh, close: () => clearInterval(timer) }
}

/** Between two renames the link may be missing for an instant. */
function readTargetOr(read: () => string, fallback: string): string {
  try {
    return read()
  } catch {
    return fallback
  }
}
