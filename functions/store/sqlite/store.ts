import { randomUUID } from 'node:crypto'
import { existsSync, linkSync, rmSync, statSync } from 'node:fs'
import { statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { Kysely, sql } from 'kysely'
import { OperatorError } from '../../../src/domain/wire/operator-error.ts'
import { toJsonRows } from '../schema/click.ts'
import { type Store, type Tables, tryWriting } from '../schema/store.ts'
import { SqliteError } from '../schema/store-error.ts'
import { createSqliteDialect, openSqliteThread, readErrcode } from './connection.ts'
import { SQLITE_FILE } from './ledger-file.ts'
import { makePrivateFile, makePrivateFolder } from './private-files.ts'

/** Small writes still fit into the log on a full disk, but not reliably below this room (bytes). */
const LEAST_ROOM = 256 * 1024
/** SQLITE_FULL, SQLITE_CANTOPEN */
const [FULL, CANNOT_OPEN] = [13, 14]

/** Low byte of SQLite's codes for a file whose bytes are wrong: CORRUPT and NOTADB. */
const DAMAGED = new Set([11, 26])

const RESTORE = 'Stop the server and put a backup in its place: npm run restore -- <backup>.'

/** Opens (and creates) the SQLite state. Migrations are the caller's next step. */
export async function openSqliteStore(stateDir: string): Promise<Store> {
  const file = join(stateDir, SQLITE_FILE)
  makePrivateFolder(stateDir)
  if (!existsSync(file)) createLedgerFile(file)
  // SQLite would take it for a new one, and delete the log that may still hold its data.
  if (statSync(file).size === 0)
    throw new OperatorError(
      `The ledger ${file} is empty: something emptied it. ${RESTORE} Without a backup, move the file away: a new ledger begins.`,
    )
  makePrivateFile(file)
  for (const path of [`${file}-wal`, `${file}-shm`]) if (existsSync(path)) makePrivateFile(path)
  const connection = await openSqliteThread(file)
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection) })
  // Kysely closes the driver only once it has run a query; close the thread either way.
  const close = () => connection.close()
  return {
    dialect: 'sqlite',
    db,
    appendClicks: async (clicks) =>
      void (await sql`insert into click (hour, listing_id, sid, pos, src, bot)
        select value ->> 'hour', value ->> 'listing_id', value ->> 'sid', value ->> 'pos',
          value ->> 'src', value ->> 'bot' from json_each(${toJsonRows(clicks)})`.execute(db)),
    ping: async () => {
      const { bavail, bsize } = await statfs(stateDir)
      if (bavail * bsize < LEAST_ROOM) throw new SqliteError('database or disk is full', FULL)
      await tryWriting({ db }, Date.now())
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}

/** What to do about a ledger whose bytes are wrong; null for every other error. */
export function toDamage(file: string, error: unknown): OperatorError | null {
  if (!(error instanceof SqliteError) || !DAMAGED.has(error.errcode & 0xff)) return null
  return new OperatorError(
    `The ledger ${file} is damaged (${error.message}). ${RESTORE} The damaged file is kept next to it.`,
  )
}

/** A new ledger gets its name with its first bytes: an empty one was emptied by something else. */
function createLedgerFile(file: string): void {
  const born = `${file}.${randomUUID()}.new`
  makePrivateFile(born)
  try {
    const database = new DatabaseSync(born)
    database.exec('PRAGMA journal_mode = WAL')
    database.close()
    linkSync(born, file)
  } catch (error) {
    // Another process was faster: its ledger is the one.
    if (!existsSync(file)) throw new SqliteError(String(error), readErrcode(error) || CANNOT_OPEN)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(born + suffix, { force: true })
  }
}
