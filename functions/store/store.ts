import { AsyncLocalStorage } from 'node:async_hooks'
import { createHash } from 'node:crypto'
import { CompiledQuery, type Kysely, type SelectQueryBuilder, sql } from 'kysely'
import { codeOf } from '../../src/domain/wire/problems.ts'
import { HOUR_MS } from '../../src/domain/wire/shapes.ts'
import type { ClickSource } from '../../src/domain/wire/vocabulary.ts'
import { type Clock, within } from '../ports/clock.ts'
import {
  type Counter,
  type CreateCounter,
  createMemoryCounter,
  type LimitName,
} from '../server/rate-limits.ts'
import type { RowsOf, TABLES } from './schema.ts'

/**
 * All data that must survive a restart. Two implementations, SQLite for one machine and PostgreSQL for
 * many, pass the same tests.
 *
 * Inside `db.transaction()` use only the transaction's own handle: SQLite has one connection, and a
 * query on `db` would wait for its own transaction.
 */
export interface Store extends AsyncDisposable {
  readonly dialect: 'sqlite' | 'postgres'
  readonly db: Kysely<Tables>
  /** Appends the clicks in one commit; resolves once they would survive a crash. */
  appendClicks(clicks: readonly Click[]): Promise<void>
  /** Rejects if the store cannot accept a write now, or its disk is about to be full. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** Both stores' `ping`. @throws the store's error if a write fails */
export async function tryWriting({ db }: Pick<Store, 'db'>, now: number): Promise<void> {
  await db
    .insertInto('job')
    .values({ queue: 'ready', key: '', due: now, holder: '', held_until: 0 })
    .onConflict((conflict) => conflict.columns(['queue', 'key']).doUpdateSet({ due: now }))
    .execute()
}

/** The tables as the queries see them, each with its own columns. */
export type Tables = RowsOf<typeof TABLES>

export type ClaimTable = Tables['claim']
export type MeterCursorTable = Tables['meter_cursor']
export type MeterPayerTable = Tables['meter_payer']
export type ReportTable = Tables['report']

/** How many rows a query finds; PostgreSQL returns the number as text. */
export async function countRows<Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const rows = query.select(({ fn }) => fn.countAll<number>().as('count'))
  return Number((await rows.executeTakeFirstOrThrow()).count)
}

/**
 * Inserts rows that are not there yet, with the same statement for any number of rows, so that the
 * statement is built and prepared once.
 * PostgreSQL gets the rows as one text, and SQLite's thread gets a list that it iterates.
 */
export async function insertTogether<Table extends keyof Tables>(
  { db, dialect }: Pick<Store, 'db' | 'dialect'>,
  table: Table,
  rows: readonly Tables[Table][],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  if (columns.length === 0) return
  const names = sql.join(columns.map((column) => sql.id(column)))
  const into = sql`insert into ${sql.id(table)} (${names})`
  if (dialect === 'sqlite') {
    const marks = columns.map(() => '?').join(', ')
    const { sql: text } = sql`${into} values (${sql.raw(marks)}) on conflict do nothing`.compile(db)
    await db.executeQuery(CompiledQuery.raw(text, [rows.map((row) => Object.values(row))]))
  } else
    await sql`${into} select ${names} from json_populate_recordset(null::${sql.id(table)}, ${JSON.stringify(rows)}::json) on conflict do nothing`.execute(
      db,
    )
}

/** Rows per statement: with a parameter for each column, few enough for SQLite's limit of 32,766. */
const ROWS_A_STATEMENT = 1_000

export function inPieces<Row>(rows: readonly Row[], size = ROWS_A_STATEMENT): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, n) =>
    rows.slice(n * size, (n + 1) * size),
  )
}

/**
 * A query's rows in pages, ordered by columns that together are unique: each page begins after the
 * last row of the previous page.
 */
export async function* inPages<Table extends keyof Tables, Row extends object>(
  query: SelectQueryBuilder<Tables, Table, Row>,
  columns: readonly [keyof Row & string, ...(keyof Row & string)[]],
  size: number,
): AsyncGenerator<Row[]> {
  const place = sql.join(columns.map((column) => sql.ref(column)))
  const rows = columns
    .reduce((sorted, column) => sorted.orderBy(sql.ref(column)), query)
    .limit(size)
  for (let page = await rows.execute(); ; ) {
    yield page
    const last = page.at(-1)
    if (last === undefined || page.length < size) return
    const ended = sql.join(columns.map((column) => last[column]))
    page = await rows
      // This condition is for databases that use no index for the tuple comparison below.
      .where(sql<boolean>`${sql.ref(columns[0])} >= ${last[columns[0]]}`)
      .where(sql<boolean>`(${place}) > (${ended})`)
      .execute()
  }
}

/** All that is kept about a click: no address, agent, referrer or cookie. */
export interface Click {
  /** Hours since the epoch, UTC: the day and the hour, nothing finer. */
  hour: number
  listing_id: string
  /** The `search_id` of the search that produced the link. */
  sid: string | null
  pos: number | null
  src: ClickSource | null
  /** Crawlers, prefetches and HEAD requests: kept, flagged, not counted. */
  bot: boolean
}

/** A group of clicks as one parameter, so that one statement appends them in one commit. */
export function toJsonRows(clicks: readonly Click[]): string {
  return JSON.stringify(clicks.map((click) => ({ ...click, bot: Number(click.bot) })))
}

export const HOURS_A_DAY = 24

/** @example toHour(Date.UTC(2026, 0, 1, 5, 59)) → 490901 */
export function toHour(milliseconds: number): number {
  return Math.floor(milliseconds / HOUR_MS)
}

/** Days since the epoch, UTC. */
export function toDay(milliseconds: number): number {
  return Math.floor(toHour(milliseconds) / HOURS_A_DAY)
}

/** How long one request waits for the store in total, over all queries, before a 503 (milliseconds). */
const PATIENCE_MS = 3_000

const requests = new AsyncLocalStorage<{ waitedMs: number }>()

/** Limits how long one request waits for the store. */
export function withPatience<T>(work: () => T): T {
  return requests.getStore() === undefined ? requests.run({ waitedMs: 0 }, work) : work()
}

/** @param ask gets the time it may wait (milliseconds); undefined if no request is waiting */
export async function askStore<T>(ask: (patienceMs: number | undefined) => Promise<T>): Promise<T> {
  const request = requests.getStore()
  if (request === undefined) return ask(undefined)
  const started = performance.now()
  try {
    return await ask(Math.max(0, PATIENCE_MS - request.waitedMs))
  } finally {
    request.waitedMs += performance.now() - started
  }
}

/** Runs work that a request starts but does not wait for. */
function outsideOfRequests<T>(work: () => T): T {
  return requests.exit(work)
}

/** A statement that SQLite refused, passed on from SQLite's thread with its extended error code. */
export class SqliteError extends Error {
  override name = 'SqliteError'
  readonly errcode: number
  constructor(message: string, errcode: number) {
    super(message)
    this.errcode = errcode
  }
}

/** Low bytes of SQLite's codes for a disk or file that cannot serve right now. */
const SQLITE_UNAVAILABLE = new Set([
  5, // BUSY
  6, // LOCKED
  8, // READONLY
  10, // IOERR
  11, // CORRUPT
  13, // FULL
  14, // CANTOPEN
  26, // NOTADB
])

const SQLITE_UNIQUE = new Set([2067, 1555])

const POSTGRES_UNIQUE = '23505'

/** Codes for a serialization failure and a deadlock: the documented remedy is to run the transaction again. */
const POSTGRES_RETRYABLE = new Set(['40001', '40P01'])

/** SQLSTATE classes that concern the query, not the server's health. */
const POSTGRES_OUR_FAULT = /^(?:0[A-F]|2[0-9A-F]|3[0-9A-F]|42|44)/

const CONNECTION_LOST =
  /^\w*Error: (?:Connection terminated|timeout exceeded when trying to connect|Query read timeout|Client has encountered a connection error|Client was closed|Cannot use a pool after|The store )/

/** True if the store is down, full, locked or read-only, so that 503 is the honest answer. */
export function isStoreUnavailable(error: unknown): boolean {
  if (error instanceof SqliteError) return SQLITE_UNAVAILABLE.has(error.errcode & 0xff)
  const code = codeOf(error)
  if (/^[0-9A-Z]{5}$/.test(code)) return !POSTGRES_OUR_FAULT.test(code)
  // pg's errors have no code if a connection ended or could not be made in time.
  return code !== '' ? /^E[A-Z]+$/.test(code) : CONNECTION_LOST.test(String(error))
}

export function isUniqueViolation(error: unknown): boolean {
  if (error instanceof SqliteError) return SQLITE_UNIQUE.has(error.errcode)
  return codeOf(error) === POSTGRES_UNIQUE
}

export function isRetryable(error: unknown): boolean {
  return isUniqueViolation(error) || POSTGRES_RETRYABLE.has(codeOf(error))
}

/**
 * Runs the work, and once more if `run` is called meanwhile. A job added during the last check must not wait
 * for the timer; a job added later starts the next run, so the loop ends in the same step as its check.
 */
export function createLoop(work: () => Promise<void>) {
  let running: Promise<void> | null = null
  let isPoked = false
  const loop = async () => {
    try {
      while (isPoked) {
        isPoked = false
        await work()
      }
    } finally {
      running = null
    }
  }
  return {
    run: () => {
      isPoked = true
      running ??= outsideOfRequests(loop)
      return running
    },
    idle: async () => running,
  }
}

/** A single machine counts in memory; with PostgreSQL all instances share one budget. */
export function createSharedCounters(
  store: Store,
  clock: Clock,
  patienceMs: number = COUNTER_PATIENCE_MS,
): CreateCounter {
  if (store.dialect === 'sqlite') return createMemoryCounter
  return createStoreCounters(store, clock, patienceMs)
}

/** A store slower than this must not delay a search or a redirect (milliseconds). */
const COUNTER_PATIENCE_MS = 1_000
/** How long a slow store is left alone (milliseconds): otherwise a sign-in would wait five times. */
const REST_MS = 2_000

/**
 * Fixed windows counted in the store. Keys are hashed: the table contains no address. Requests that
 * arrive while a statement is running share the next one, so that a busy instance costs the store a
 * few statements a second. While the store is down or slow, each instance counts on its own.
 * @param patienceMs milliseconds after which a store is slow
 */
export function createStoreCounters(
  store: Store,
  clock: Clock,
  patienceMs: number = COUNTER_PATIENCE_MS,
): CreateCounter {
  let restsUntil = Number.NEGATIVE_INFINITY
  const ask = async <T>(shared: () => Promise<T>, own: () => Promise<T>): Promise<T> => {
    if (performance.now() < restsUntil) return own()
    return within(patienceMs, outsideOfRequests(shared)).catch(() => {
      restsUntil = performance.now() + REST_MS
      return own()
    })
  }
  return (limit) => {
    const own = createMemoryCounter(limit)
    const shared = createBatchedCounter(store, clock, limit)
    return {
      count: (key) =>
        ask(
          () => shared.count(key),
          () => own.count(key),
        ),
      peek: (key) =>
        ask(
          () => shared.peek(key),
          () => own.peek(key),
        ),
    }
  }
}

interface Attempt {
  tries: number
  window_start: number
}

/** Requests waiting for the next statement, by hashed key, and the rows that it will return. */
interface Batch {
  tries: Map<string, number>
  rows: Promise<Map<string, Attempt>>
}

function createBatchedCounter(
  store: Store,
  clock: Clock,
  { name, seconds }: { name: LimitName; seconds: number },
): Counter {
  const windowMs = seconds * 1000
  let open: Batch | null = null
  let running: Promise<unknown> = Promise.resolve()
  const openBatch = (): Batch => {
    const tries = new Map<string, number>()
    const rows = running.then(() => {
      open = null
      return countTries(store, tries, clock.now(), windowMs)
    })
    running = rows.catch(() => {})
    return { tries, rows }
  }
  return {
    peek: async (key) => {
      const { tries } = (await store.db
        .selectFrom('attempt')
        .select('tries')
        .where('key', '=', hashKey(name, key))
        .where('window_start', '>', clock.now() - windowMs)
        .executeTakeFirst()) ?? { tries: 0 }
      return tries
    },
    count: async (key) => {
      const hashed = hashKey(name, key)
      open ??= openBatch()
      const { tries, rows } = open
      const mine = (tries.get(hashed) ?? 0) + 1
      tries.set(hashed, mine)
      const row = (await rows).get(hashed)
      if (row === undefined) throw new Error('the store returned no count for this key')
      // The statement counted n requests at once: the first request gets the first of the n counts, and so on.
      const used = row.tries - (tries.get(hashed) ?? mine) + mine
      return { used, msBeforeReset: row.window_start + windowMs - clock.now() }
    },
  }
}

/** One statement, so that parallel requests cannot read the same count; sorted to prevent deadlocks. */
async function countTries(
  { db }: Store,
  tries: ReadonlyMap<string, number>,
  now: number,
  windowMs: number,
): Promise<Map<string, Attempt>> {
  const values = [...tries].sort().map(([key, n]) => ({ key, window_start: now, tries: n }))
  const rows = await db
    .insertInto('attempt')
    .values(values)
    .onConflict((conflict) =>
      conflict.column('key').doUpdateSet((eb) => {
        // A window that starts in the future was opened before the clock was set back, and is over.
        const isOver = eb.or([
          eb('attempt.window_start', '<=', now - windowMs),
          eb('attempt.window_start', '>', now + CLOCK_SKEW_MS),
        ])
        const choose = (column: 'tries' | 'window_start') =>
          eb
            .case()
            .when(isOver)
            .then(eb.ref(`excluded.${column}`))
        return {
          tries: choose('tries')
            .else(eb('attempt.tries', '+', eb.ref('excluded.tries')))
            .end(),
          window_start: choose('window_start').else(eb.ref('attempt.window_start')).end(),
        }
      }),
    )
    .returning(['key', 'tries', 'window_start'])
    .execute()
  return new Map(rows.map(({ key, ...attempt }) => [key, attempt]))
}

/** Instances' clocks may differ by this much without one instance ending another's window. */
const CLOCK_SKEW_MS = 5_000

function hashKey(name: LimitName, key: string): string {
  return `${name}:${createHash('sha256').update(key).digest('base64url')}`
}
