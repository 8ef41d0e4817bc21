import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { makePrivateFile, makePrivateFolder } from './sqlite.ts'

/** `STATE_DIR` cannot be used by this process; the message says why and how to fix it. */
export class StateError extends OperatorError {
  override name = 'StateError'
}

const LOCK_FILE = 'waypost.lock'

/** One server per `STATE_DIR`. @throws StateError when another process holds it */
export async function lockState(stateDir: string): Promise<FileLock> {
  let lock: FileLock | null
  try {
    const file = join(stateDir, LOCK_FILE)
    makePrivateFolder(stateDir)
    makePrivateFile(file)
    lock = takeFileLock(file)
  } catch (error) {
    throw unusable(stateDir, error)
  }
  if (lock !== null) return lock
  throw new StateError(
    `STATE_DIR ${stateDir} is in use by another Waypost process. Stop that one, give this one another STATE_DIR, or set DATABASE_URL to run several.`,
  )
}

/** Read-only disks, missing rights, a file where the folder should be. */
export function unusable(stateDir: string, error: unknown): StateError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StateError(
    `STATE_DIR ${stateDir} cannot be used (${reason}). It must be a folder this user can write to, on a disk with room.`,
  )
}

/** SQLite's own lock on a file: the system drops it when the process dies, however it dies. */
export interface FileLock extends Disposable {
  release(): void
}

const SQLITE_BUSY = 5

/**
 * Takes the lock, or says that another process holds it (null).
 *
 * @throws SQLite's error when the file cannot be opened or written
 */
export function takeFileLock(path: string): FileLock | null {
  const file = new DatabaseSync(path, { timeout: 0 })
  try {
    file.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    file.close()
    if (error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY) return null
    throw error
  }
  const release = () => {
    if (file.isOpen) file.close()
  }
  return { release, [Symbol.dispose]: release }
}
