import { existsSync } from 'node:fs'
import { copyFile, mkdir, open, rename, rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { lockState } from './lock.ts'
import { makePrivateFile, SQLITE_FILE } from './sqlite.ts'

/**
 * A copy of the SQLite state while the server runs, checked before it gets its name.
 *
 * @throws when the target exists, the source does not, or the copy fails its integrity check
 */
export async function backupState(stateDir: string, target: string): Promise<void> {
  const source = join(stateDir, SQLITE_FILE)
  if (!existsSync(source)) throw new Error(`There is no ${source} to back up; check STATE_DIR.`)
  if (existsSync(target)) throw new Error(`${target} exists already; name another file.`)
  await mkdir(dirname(target), { recursive: true, mode: 0o700 })
  const part = `${target}.part`
  await rm(part, { force: true })
  makePrivateFile(part)
  {
    using database = new DatabaseSync(source, { readOnly: true })
    await backup(database, part)
  }
  findDamage(part)
  await flush(part)
  await rename(part, target)
}

/**
 * Replaces the SQLite state with a backup. The replaced state is kept next to it.
 *
 * @returns its path; null when there was none
 * @throws StateError while a server runs on this `STATE_DIR`
 */
export async function restoreState(stateDir: string, source: string, now: number) {
  if (!existsSync(source)) throw new Error(`Found no backup at ${source}.`)
  findDamage(source)
  using _lock = await lockState(stateDir)
  const file = join(stateDir, SQLITE_FILE)
  const part = `${file}.restoring`
  await copyFile(source, part)
  makePrivateFile(part)
  await flush(part)
  const kept = await setAside(file, now)
  await rename(part, file)
  return kept
}

/** The write-ahead log belongs to its database: left behind, it would be replayed into the wrong one. */
async function setAside(file: string, now: number): Promise<string | null> {
  if (!existsSync(file)) return null
  const kept = `${file}.before-${new Date(now).toISOString().replaceAll(':', '')}`
  for (const suffix of ['', '-wal', '-shm'])
    if (existsSync(file + suffix)) await rename(file + suffix, kept + suffix)
  return kept
}

/** Opened for writing, because a read-only SQLite may not build the index of a WAL file. */
function findDamage(file: string): void {
  using database = new DatabaseSync(file)
  const row = database.prepare('PRAGMA integrity_check').get()
  const verdict = String(row?.integrity_check)
  if (verdict !== 'ok') throw new Error(`${file} is damaged: ${verdict}`)
  const tables = database.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'click'").all()
  if (tables.length === 0)
    throw new Error(`${file} is not a Waypost state: it has no clicks table.`)
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync()
  await file.close()
}
