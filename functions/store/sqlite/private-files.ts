import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'

/**
 * State holds addresses of sellers and their claims: only the user the server runs as may read it.
 * Modes are also set on existing files, whatever umask or person made them.
 */
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/** @throws when the folder cannot be created or made private */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: FOLDER_MODE })
  chmodSync(path, FOLDER_MODE)
}

/**
 * SQLite gives its `-wal` and `-shm` the mode of their database. An existing file is never opened:
 * closing it again would drop every lock this process holds on it (fcntl's rule).
 */
export function makePrivateFile(path: string): void {
  if (existsSync(path)) chmodSync(path, FILE_MODE)
  else closeSync(openSync(path, 'a', FILE_MODE))
}
