import { DatabaseSync, type SQLInputValue, type StatementSync } from 'node:sqlite'
import { parentPort, workerData } from 'node:worker_threads'

/**
 * This thread owns the SQLite connection. `node:sqlite` is synchronous, and FULL durability
 * means an fsync per commit: here it stalls this thread, never the one that answers requests.
 */
const BUSY_TIMEOUT_MS = 5_000
/** Resolution of requests' time limits (milliseconds). */
const STEP_MS = 500
const MAX_PREPARED = 300

export interface Query {
  sql: string
  parameters: readonly unknown[]
  /** Replaces `parameters` if there are many rows: the statement runs once for each row. */
  rows?: readonly (readonly unknown[])[]
}

/** A message to the SQLite thread; the last message has no query and closes the thread. */
interface Order {
  id: number
  /** The parameters may be of any type: SQLite refuses values that it cannot hold. */
  query:
    | (Query & { parameters: readonly SQLInputValue[]; rows?: readonly SQLInputValue[][] })
    | null
  /** How long the query waits for another process's lock (milliseconds). */
  patienceMs: number | undefined
}

/** Rows are sent without column names, because repeating the names would take most of the time. */
interface Found {
  columns: readonly string[]
  rows: readonly unknown[]
  changes: number
}

export type Answer =
  | ({ id: number; ok: true } & Found)
  | { id: number; ok: false; message: string; errcode: number }

const port = parentPort
if (port === null) throw new Error('sqlite-thread.ts runs only as a worker (openSqliteThread)')
const database = new DatabaseSync(String(workerData), { timeout: BUSY_TIMEOUT_MS })
// FULL, because in WAL mode NORMAL may lose acknowledged commits in a power failure.
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA foreign_keys = ON')
const NOTHING: Found = { columns: [], rows: [], changes: 0 }
const prepared = new Map<string, StatementSync>()

port.on('message', (order: Order) => {
  port.postMessage(carryOut(order))
  if (order.query === null) port.close()
})

function carryOut({ id, query, patienceMs }: Order): Answer {
  try {
    waitAtMost(patienceMs ?? BUSY_TIMEOUT_MS)
    if (query !== null) return { id, ok: true, ...runQuery(query) }
    database.close()
    return { id, ok: true, ...NOTHING }
  } catch (error) {
    const errcode = error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
    return { id, ok: false, message: String(error), errcode }
  }
}

let waitsMs = BUSY_TIMEOUT_MS

function waitAtMost(milliseconds: number): void {
  const rounded = Math.ceil(milliseconds / STEP_MS) * STEP_MS
  if (rounded === waitsMs) return
  database.exec(`PRAGMA busy_timeout = ${rounded}`)
  waitsMs = rounded
}

function runQuery({ sql, parameters, rows: many }: NonNullable<Order['query']>): Found {
  // SQLite rolls back by itself when the disk is full; another rollback would be a second error.
  if (sql === 'ROLLBACK' && !database.isTransaction) return NOTHING
  const statement = prepare(sql)
  if (statement.columns().length > 0) {
    // SQLite takes at most 32,766 parameters; a statement with more never gets here.
    const rows = statement.all(...parameters)
    // The columns are read again, because running the statement recompiles it if a table was altered.
    const columns = statement.columns().map(({ name }) => name)
    return { columns, rows, changes: rows.length }
  }
  if (many !== undefined) {
    // A row has one value per column, far fewer than 32,766.
    for (const row of many) statement.run(...row)
    return { ...NOTHING, changes: many.length }
  }
  // Here, too, no statement has more than 32,766 parameters.
  return { ...NOTHING, changes: Number(statement.run(...parameters).changes) }
}

function prepare(sql: string): StatementSync {
  const known = prepared.get(sql)
  if (known !== undefined) return known
  if (prepared.size >= MAX_PREPARED) prepared.clear()
  const statement = database.prepare(sql)
  statement.setReturnArrays(true)
  prepared.set(sql, statement)
  return statement
}
