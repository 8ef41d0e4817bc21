import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'

/**
 * One server a `STATE_DIR`. The lock is SQLite's own on a file of its own: the system drops it the
 * moment the process dies, however it dies, so there are no stale pid files to clean up.
 */
export interface StateLock {
  release(): void
}

export class StateLockedError extends Error {
  override name = 'StateLockedError'
}

const LOCK_FILE = 'waypost.lock'
const SQLITE_BUSY = 5

/** @throws StateLockedError when another process holds it */
export async function lockState(stateDir: string): Promise<StateLock> {
  await mkdir(stateDir, { recursive: true, mode: 0o700 })
  const file = new DatabaseSync(join(stateDir, LOCK_FILE), { timeout: 0 })
  try {
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if (!isBusy(error)) throw error
    throw new StateLockedError(
      `STATE_DIR ${stateDir} is in use by another Waypost process. Stop that one, give this one another STATE_DIR, or set DATABASE_URL to run several.`,
    )
  }
  return {
    release: () => {
      if (file.isOpen) file.close()
    },
  }
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
