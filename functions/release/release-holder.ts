import { readlinkSync } from 'node:fs'
import { join } from 'node:path'
import type { Log } from '../ports/log.ts'
import { loadRelease } from './load-release.ts'
import { verifyBodiesInSteps } from './open-search-index.ts'
import type { Release } from './release.ts'

/** How often the link to the current release is looked at (milliseconds). */
const LOOK_EVERY = 1000

export interface ReleaseHolder {
  current(): Release
  /** Folder of the release being served. */
  dir(): string
  /** Looks now: swaps to a new release, or keeps the old one and logs why. */
  refresh(): Promise<void>
  /**
   * Verifies what of the release being served was not while it was loaded, in short steps: of the
   * first one; a later one was verified before it was swapped in.
   * @throws SearchIndexError when it is damaged and must not be served
   */
  verify(): Promise<void>
  close(): void
}

/**
 * Holds the release being served and picks up a new one when `OUT_DIR/current` is switched. The
 * new one is loaded and verified whole before it is swapped in, in short steps, so that no request
 * sees a mixture or waits for it; one that cannot be loaded leaves the old one serving, and is tried
 * again only when the link changes.
 *
 * @throws when the first release cannot be loaded.
 */
export async function createReleaseHolder({
  outDir,
  baseUrl,
  log,
}: {
  outDir: string
  baseUrl: string
  log: Log
}): Promise<ReleaseHolder> {
  const readTarget = () => readlinkSync(join(outDir, 'current'))
  let target = readTarget()
  let dir = join(outDir, target)
  let release = await loadRelease(dir, baseUrl)
  async function swapTo(next: string): Promise<void> {
    try {
      const loaded = await loadRelease(join(outDir, next), baseUrl)
      await verifyBodiesInSteps(loaded.search)
      release = loaded
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
  const readNext = () => readTargetOr(readTarget, target)
  async function look(): Promise<void> {
    for (let next = readNext(); next !== target; next = readNext()) {
      target = next
      await swapTo(next)
    }
  }
  let looking: Promise<void> | undefined
  const refresh = () => {
    looking ??= look().finally(() => {
      looking = undefined
    })
    return looking
  }
  const timer = setInterval(() => void refresh(), LOOK_EVERY)
  timer.unref()
  return {
    current: () => release,
    dir: () => dir,
    refresh,
    verify: () => verifyBodiesInSteps(release.search),
    close: () => clearInterval(timer),
  }
}

/** Between two renames the link may be missing for an instant. */
function readTargetOr(read: () => string, fallback: string): string {
  try {
    return read()
  } catch {
    return fallback
  }
}
