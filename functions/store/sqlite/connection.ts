import { Worker } from 'node:worker_threads'
import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { within } from '../../ports/clock.ts'
import { askStore } from '../schema/patience.ts'
import { SqliteError } from '../schema/store-error.ts'
import type { Answer, Query } from './thread.ts'

type SqliteConnection = Awaited<ReturnType<typeof openSqliteThread>>

export interface Rows {
  rows: unknown[]
  changes: number
}

const CLOSED = 'The store is closed'

type Waiter = Pick<PromiseWithResolvers<Rows>, 'resolve' | 'reject'>

export async function openSqliteThread(file: string) {
  const thread = new Worker(new URL('./thread.ts', import.meta.url), { workerData: file })
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
      // A thread that is gone never answers; a message to it would wait for ever.
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
     * Waits for its turn and holds the connection until the returned function is called.
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

/** With the names of the columns. */
function toRows({ columns, rows }: Extract<Answer, { ok: true }>): unknown[] {
  return rows.map((values) => {
    const row: Record<string, unknown> = {}
    // Typed as objects; the thread returns them as arrays.
    const own = values as unknown[]
    // By index: an iterator for each of a million rows costs more than the rest.
    for (let place = 0; place < own.length; place += 1) row[columns[place] ?? ''] = own[place]
    return row
  })
}

export function readErrcode(error: unknown): number {
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
        // Later callers wait for earlier ones all the same.
        void before.then(resolve)
        throw error
      })
    return resolve
  }
}

/** Kysely over the SQLite thread; its own driver wants a native build, which Node 24 replaces. */
export function createSqliteDialect(connection: SqliteConnection): Dialect {
  return {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createDriver: () => createDriver(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/**
 * SQLite can roll back DDL; saying so makes the migrator run inside one `BEGIN IMMEDIATE`. The
 * driver below takes turns itself: Kysely's own queue would wait without a limit.
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
    // The rows of `insertTogether`: no other parameter is a list, which SQLite could not hold.
    const [many] = parameters
    const { rows, changes } = await connection.query(
      Array.isArray(many) ? { sql, parameters: [], rows: many } : { sql, parameters },
    )
    // The row type is Kysely's promise about the query it compiled; SQLite cannot confirm it.
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }
}

// biome-ignore lint/correctness/useYield: it refuses, but its type is Kysely's
async function* streamQuery(): AsyncIterableIterator<never> {
  throw new Error('Streaming from SQLite is not supported; read pages instead')
}
