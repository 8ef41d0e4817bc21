import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  existsSync,
  linkSync,
  mkdirSync,
  openSync,
  rmSync,
  statSync,
} from 'node:fs'
import { copyFile, mkdir, open, rename, rm, statfs } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { backup, DatabaseSync } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  Kysely,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
  sql,
} from 'kysely'
import { OperatorError } from '../../src/domain/wire/problems.ts'
import { within } from '../ports/clock.ts'
import type { Config } from '../ports/config.ts'
import type { Answer, Query } from './sqlite-thread.ts'
import { askStore, SqliteError, type Store, type Tables, toJsonRows, tryWriting } from './store.ts'

/** Free bytes below which even small writes to the log may fail. */
const LEAST_ROOM = 256 * 1024
/** SQLITE_FULL, SQLITE_CANTOPEN */
const [FULL, CANNOT_OPEN] = [13, 14]

/** Low bytes of SQLite's codes for a file whose bytes are wrong: CORRUPT and NOTADB. */
const DAMAGED = new Set([11, 26])

const RESTORE = 'Stop the server and put a backup in its place: npm run restore -- <backup>.'

/** Opens (and creates) the SQLite state. The caller runs the migrations next. */
export async function openSqliteStore(stateDir: string): Promise<Store> {
  const file = join(stateDir, SQLITE_FILE)
  makePrivateFolder(stateDir)
  if (!existsSync(file)) createLedgerFile(file)
  // SQLite would treat an empty file as new, and delete the log that may still hold the data.
  if (statSync(file).size === 0)
    throw new OperatorError(
      `The ledger ${file} is empty: something emptied it. ${RESTORE} Without a backup, move the file away, and the next start creates a new ledger.`,
    )
  makePrivateFile(file)
  for (const path of [`${file}-wal`, `${file}-shm`]) if (existsSync(path)) makePrivateFile(path)
  const connection = await openSqliteThread(file)
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection) })
  // Kysely closes the driver only if it has run a query; close the thread either way.
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
    `The ledger ${file} is damaged (${error.message}). ${RESTORE} The damaged file is kept beside the restored one.`,
  )
}

/** A new ledger gets its name only once it has bytes, so something else must have emptied an empty file. */
function createLedgerFile(file: string): void {
  const born = `${file}.${randomUUID()}.new`
  makePrivateFile(born)
  try {
    const database = new DatabaseSync(born)
    database.exec('PRAGMA journal_mode = WAL')
    database.close()
    linkSync(born, file)
  } catch (error) {
    // Another process was faster: its ledger is used.
    if (!existsSync(file)) throw new SqliteError(String(error), readErrcode(error) || CANNOT_OPEN)
  } finally {
    for (const suffix of ['', '-wal', '-shm']) rmSync(born + suffix, { force: true })
  }
}

type SqliteConnection = Awaited<ReturnType<typeof openSqliteThread>>

interface Rows {
  rows: unknown[]
  changes: number
}

const CLOSED = 'The store is closed'

type Waiter = Pick<PromiseWithResolvers<Rows>, 'resolve' | 'reject'>

async function openSqliteThread(file: string) {
  const thread = new Worker(new URL('./sqlite-thread.ts', import.meta.url), { workerData: file })
  const waiting = new Map<number, Waiter>()
  const failAll = (error: Error) => {
    for (const waiter of waiting.values()) waiter.reject(error)
    waiting.clear()
  }
  thread.on('message', (answer: Answer) => settle(waiting, answer))
  thread.on('error', (error) => failAll(new SqliteError(String(error), readErrcode(error))))
  let isOpen = true
  thread.on('exit', () => {
    isOpen = false
    failAll(new Error(CLOSED))
  })
  let lastId = 0
  const order = (query: Query | null, patienceMs?: number) =>
    new Promise<Rows>((resolve, reject) => {
      // A thread that has ended never answers: a message to it would wait for ever.
      if (!isOpen) return reject(new Error(CLOSED))
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      thread.postMessage({ id: lastId, query, patienceMs })
    })
  const acquire = createWriteQueue()
  await order({ sql: 'SELECT 1', parameters: [] })
  return {
    query: (query: Query) => askStore((patienceMs) => order(query, patienceMs)),
    /**
     * Waits for a turn and holds the connection until the returned function is called.
     * Transactions span several messages; without turns a click could be acknowledged, then rolled
     * back.
     */
    acquire: () => askStore(acquire),
    close: async () => {
      const release = await acquire()
      await order(null).finally(release)
    },
  }
}

function settle(waiting: Map<number, Waiter>, answer: Answer): void {
  const waiter = waiting.get(answer.id)
  waiting.delete(answer.id)
  if (answer.ok) waiter?.resolve({ rows: toRows(answer), changes: answer.changes })
  else waiter?.reject(new SqliteError(answer.message, answer.errcode))
}

/** Rows as objects with column names. */
function toRows({ columns, rows }: Extract<Answer, { ok: true }>): unknown[] {
  return rows.map((values) => {
    const row: Record<string, unknown> = {}
    // Typed as objects; the thread returns them as arrays.
    const own = values as unknown[]
    // By index: an iterator for each of a million rows would cost more than all other steps.
    for (let place = 0; place < own.length; place += 1) row[columns[place] ?? ''] = own[place]
    return row
  })
}

function readErrcode(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
}

function createWriteQueue(): (patienceMs?: number) => Promise<() => void> {
  let last: Promise<void> = Promise.resolve()
  return async (patienceMs) => {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    if (patienceMs === undefined) await before
    else
      await within(patienceMs, before).catch((error: unknown) => {
        // Callers behind this one still wait for the callers before it.
        void before.then(resolve)
        throw error
      })
    return resolve
  }
}

/** Kysely over the SQLite thread; Kysely's own driver needs a native module, which Node 24 makes unnecessary. */
function createSqliteDialect(connection: SqliteConnection): Dialect {
  return {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createDriver: () => createDriver(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/**
 * SQLite can roll back DDL; declaring this makes the migrator run inside one `BEGIN IMMEDIATE`. The
 * driver below has its own queue, because Kysely's queue would wait without a limit.
 */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsMultipleConnections(): boolean {
    return true
  }
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

function createDriver(connection: SqliteConnection): Driver {
  const run = (sql: string) => connection.query({ sql, parameters: [] })
  const held = new WeakMap<DatabaseConnection, () => void>()
  return {
    init: async () => {},
    acquireConnection: async () => {
      const release = await connection.acquire()
      const mine: DatabaseConnection = { executeQuery, streamQuery }
      held.set(mine, release)
      return mine
    },
    // IMMEDIATE: a deferred transaction that reads first can fail halfway, at its first write.
    beginTransaction: async () => void (await run('BEGIN IMMEDIATE')),
    commitTransaction: async () => void (await run('COMMIT')),
    rollbackTransaction: async () => void (await run('ROLLBACK')),
    releaseConnection: async (mine) => held.get(mine)?.(),
    destroy: () => connection.close(),
  }

  async function executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query
    // Only `insertTogether` passes a list (its rows): SQLite has no list parameters.
    const [many] = parameters
    const { rows, changes } = await connection.query(
      Array.isArray(many) ? { sql, parameters: [], rows: many } : { sql, parameters },
    )
    // Kysely derives the row type from the query it compiled; SQLite cannot confirm that type.
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }
}

// biome-ignore lint/correctness/useYield: it refuses, but its type is Kysely's
async function* streamQuery(): AsyncIterableIterator<never> {
  throw new Error('Streaming from SQLite is not supported; read pages instead')
}

export const SQLITE_FILE = 'waypost.sqlite'

/** False before the first server wrote a ledger. Checked before code that reads a ledger is loaded. */
export function hasLedger(config: Pick<Config, 'DATABASE_URL' | 'STATE_DIR'>): boolean {
  return config.DATABASE_URL !== undefined || existsSync(join(config.STATE_DIR, SQLITE_FILE))
}

/**
 * State contains sellers' addresses and their claims: only the user that runs the server may read
 * it. Modes are also set on existing files, however they were created.
 */
const FOLDER_MODE = 0o700
const FILE_MODE = 0o600

/** @throws if the folder cannot be created or made private */
function makePrivateFolder(path: string): void {
  mkdirSync(path, { recursive: true, mode: FOLDER_MODE })
  chmodSync(path, FOLDER_MODE)
}

/**
 * SQLite gives its `-wal` and `-shm` the mode of their database. An existing file is never opened:
 * closing a second descriptor would drop every lock that this process holds on the file (fcntl's rule).
 */
function makePrivateFile(path: string): void {
  if (existsSync(path)) chmodSync(path, FILE_MODE)
  else closeSync(openSync(path, 'a', FILE_MODE))
}

/** This process cannot use `STATE_DIR`; the message says why and how to fix it. */
export class StateError extends OperatorError {
  override name = 'StateError'
}

const LOCK_FILE = 'waypost.lock'

/** One server per `STATE_DIR`. @throws StateError if another process holds it */
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
    `STATE_DIR ${stateDir} is in use by another Waypost process. Stop the other process, start this one with another STATE_DIR, or set DATABASE_URL to run several.`,
  )
}

/** The error for read-only disks, missing rights, or a file in place of the folder. */
export function unusable(stateDir: string, error: unknown): StateError {
  const reason = error instanceof Error ? error.message : String(error)
  return new StateError(
    `STATE_DIR ${stateDir} cannot be used (${reason}). It must be a folder that this user can write to, on a disk with free space.`,
  )
}

/** SQLite's own lock on a file: the system drops the lock whenever the process ends. */
export interface FileLock extends Disposable {
  release(): void
}

const SQLITE_BUSY = 5

/**
 * Takes the lock. Returns null if another process holds it.
 * @throws SQLite's error if the file cannot be opened or written
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

/**
 * Copies the SQLite state while the server runs; the copy is checked before it gets its name.
 * @throws if the target exists, the source does not, or the copy fails its integrity check
 */
export async function backupState(stateDir: string, target: string): Promise<void> {
  const source = join(stateDir, SQLITE_FILE)
  if (!existsSync(source)) throw new Error(`There is no ${source} to back up; check STATE_DIR.`)
  if (existsSync(target)) throw new Error(`${target} already exists: name another file.`)
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
 * @returns the path of the replaced state; null if there was none
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

/** Moves the write-ahead log along: if left behind, it would be replayed into the wrong database. */
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
    throw new Error(`${file} is not a Waypost state file: it has no table click.`)
}

async function flush(path: string): Promise<void> {
  const file = await open(path, 'r+')
  await file.sync()
  await file.close()
}
