import { chmodSync, closeSync, existsSync, mkdirSync, openSync } from 'node:fs'

/**
 * State holds addresses of sellers and what they claimed: nobody but the user the server runs as
 * reads it. Modes are set also on what was there before, whatever umask or hand made it so.
 */
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/** @throws when the folder can be neither made nor closed to others */
export function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: FOLDER_MODE })
  chmodSync(path, FOLDER_MODE)
}

/**
 * SQLite gives its `-wal` and `-shm` the mode of the database they belong to. A file that is there is
 * never opened: closing it again would drop every lock this process holds on it (fcntl's rule).
 */
export function makePrivateFile(path: string): void {
  if (existsSync(path)) chmodSync(path, FILE_MODE)
  else closeSync(openSync(path, 'a', FILE_MODE))
}
