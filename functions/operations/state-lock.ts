import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { makePrivateFile, makePrivateFolder } from '../store/sqlite/private-files.ts'

/**
 * One server a `STATE_DIR`. The lock is SQLite's own on a file of its own: the system drops it the
 * moment the process dies, however it dies, so there are no stale pid files to clean up.
 */
export interface StateLock {
  release(): void
}

/** `STATE_DIR` cannot be used by this process; the message says why and what would be right. */
export class StateError extends Error {
  override name = 'StateError'
}

const LOCK_FILE = 'waypost.lock'
const SQLITE_BUSY = 5

/** @throws StateError when another process holds it */
export async function lockState(stateDir: string): Promise<StateLock> {
  const file = openLockFile(stateDir)
  try {
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if (!isBusy(error)) throw unusable(stateDir, error)
    throw new StateError(
      `STATE_DIR ${stateDir} is in use by another Waypost process. Stop that one, give this one another STATE_DIR, or set DATABASE_URL to run several.`,
    )
  }
  return {
    release: () => {
      if (file.isOpen) file.close()
    },
  }
}

function openLockFile(stateDir: string): DatabaseSync {
  try {
    const file = join(stateDir, LOCK_FILE)
    makePrivateFolder(stateDir)
    makePrivateFile(file)
    return new DatabaseSync(file, { timeout: 0 })
  } catch (error) {
    throw unusable(stateDir, error)
  }
}

/** Read-only disks, missing rights, a file where the folder should be. */
export function unusable(stateDir: string, error: unknown): StateError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StateError(
    `STATE_DIR ${stateDir} cannot be used (${reason}). It must be a folder this user can write to, on a disk with room.`,
  )
}

function isBusy(error: unknown): boolean {
  return error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
}
