import type { SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import { SqliteError } from '../schema/store-error.ts'
import type { Answer, ClickCells, Order, Query } from './orders.ts'

/** The main thread's end of the SQLite thread. */
export interface SqliteConnection {
  query(query: Query): Promise<Rows>
  insertClicks(cells: ClickCells): Promise<void>
  /**
   * Waits for its turn and holds the connection until the returned function is called. Transactions
   * span several orders; without turns a click could be acknowledged inside one that rolls back.
   */
  acquire(): Promise<() => void>
  close(): Promise<void>
}

export interface Rows {
  rows: unknown[]
  changes: number
}

const CLOSED = 'The store is closed'

interface Waiter {
  resolve: (rows: Rows) => void
  reject: (error: Error) => void
}

export async function openSqliteThread(file: string): Promise<SqliteConnection> {
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
  const order = (make: (id: number) => Order) =>
    new Promise<Rows>((resolve, reject) => {
      // A thread that is gone never answers; an order to it would wait for ever.
      if (!isOpen) return reject(new Error(CLOSED))
      lastId += 1
      waiting.set(lastId, { resolve, reject })
      thread.postMessage(make(lastId))
    })
  const acquire = createTurns()
  const query = (text: Query) => order((id) => ({ do: 'query', id, query: text }))
  await query({ sql: 'SELECT 1', parameters: [] })
  return {
    query,
    acquire,
    insertClicks: async (clicks) => {
      await order((id) => ({ do: 'clicks', id, clicks }))
    },
    close: async () => {
      const release = await acquire()
      await order((id) => ({ do: 'close', id })).finally(release)
    },
  }
}

export function isSqliteValue(value: unknown): value is SQLInputValue {
  return (
    value === null ||
    typeof value === 'string' ||
    typeof value === 'number' ||
    typeof value === 'bigint' ||
    value instanceof Uint8Array
  )
}

function settle(waiting: Map<number, Waiter>, answer: Answer): void {
  const waiter = waiting.get(answer.id)
  waiting.delete(answer.id)
  if (answer.ok) waiter?.resolve(answer)
  else waiter?.reject(new SqliteError(answer.message, answer.errcode))
}

export function readErrcode(error: unknown): number {
  return error instanceof Error && 'errcode' in error ? Number(error.errcode) : 0
}

/** First come, first served. */
function createTurns(): () => Promise<() => void> {
  let last: Promise<void> = Promise.resolve()
  return async () => {
    const before = last
    const { promise, resolve } = Promise.withResolvers<void>()
    last = promise
    await before
    return resolve
  }
}
