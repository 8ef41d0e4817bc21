import { readlinkSync, statSync } from 'node:fs'
import { basename, join } from 'node:path'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { createProblems } from '../http/answers.ts'
import type { Log } from '../ports/log.ts'
import { createFailureReport } from '../server/node-answers.ts'
import { loadRelease, type Release } from './release.ts'

/** How often the link to the current release is checked (milliseconds). */
const LOOK_EVERY = 1000

export type ReleaseHolder = Awaited<ReturnType<typeof createReleaseHolder>>

/**
 * Holds the release being served and picks up a new one when `OUT_DIR/current` is switched. The new
 * one is completely loaded and verified before it is swapped in, in short steps, so that no request
 * sees a mixture or waits for it; one that cannot be loaded leaves the old one serving, and is
 * tried again only when the link changes.
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
}) {
  const readTarget = () => readLink(join(outDir, 'current'))
  const report = createFailureReport({ log, problem: createProblems(baseUrl) })
  const readTime = (name: string) =>
    statSync(join(outDir, 'releases', name, 'release.json')).mtimeMs
  const load = (name: string) => loadRelease(name, { outDir, baseUrl, report })
  const first = readTarget()
  if (first === null)
    throw new OperatorError(`OUT_DIR ${outDir} holds no release: build one with "npm run build"`)
  let target = first
  let loaded = await load(target)
  let publishedAt = readTime(target)
  async function swapTo(next: string): Promise<void> {
    try {
      const taken = await load(next)
      publishedAt = readTime(next)
      loaded = taken
      log.info('release.swapped', { release: taken.name })
    } catch (error) {
      log.error('release.refused', {
        release: next,
        serving: loaded.name,
        reason: error instanceof Error ? error.message : 'unreadable',
      })
    }
  }
  // Between two renames the link may be missing for an instant.
  const readNext = () => readTarget() ?? target
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
    current: (): Release => loaded,
    /** When the release being served was published (milliseconds since the epoch). */
    publishedAt: () => publishedAt,
    /** Checks now: swaps to a new release, or keeps the old one and logs why. */
    refresh,
    close: () => clearInterval(timer),
  }
}

function readLink(path: string): string | null {
  try {
    return basename(readlinkSync(path))
  } catch {
    return null
  }
}
