import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { ConfigError } from '../ports/config.ts'
import { type FileLock, takeFileLock } from './file-lock.ts'

/** How often a build that waits looks again (milliseconds). */
const LOOK_EVERY = 200

/**
 * One build at a time in an `OUT_DIR`: a second one waits for the first, and then mostly finds
 * that nothing is left to do.
 *
 * @throws ConfigError when the folder cannot be used
 */
export async function lockBuilds(outDir: string, onWait: () => void): Promise<FileLock> {
  await mkdir(outDir, { recursive: true }).catch((error: unknown) => {
    throw unusable(outDir, error)
  })
  for (let looks = 0; ; looks += 1) {
    const lock = tryLock(outDir)
    if (lock !== null) return lock
    if (looks === 0) onWait()
    await sleep(LOOK_EVERY)
  }
}

function tryLock(outDir: string): FileLock | null {
  try {
    return takeFileLock(join(outDir, 'build.lock'))
  } catch (error) {
    throw unusable(outDir, error)
  }
}

function unusable(outDir: string, error: unknown): ConfigError {
  const reason = error instanceof Error ? error.message : String(error)
  return new ConfigError(
    `OUT_DIR ${outDir} cannot be used (${reason}). It must be a folder this user can write to, on a disk with room.`,
  )
}
