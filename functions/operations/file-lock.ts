import { DatabaseSync } from 'node:sqlite'

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
