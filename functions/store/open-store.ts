import { join } from 'node:path'
import { Kysely, PostgresDialect, sql } from 'kysely'
import { type Migration, Migrator } from 'kysely/migration'
import pg from 'pg'
import { codeOf, OperatorError } from '../../src/domain/wire/problems.ts'
import { within } from '../ports/clock.ts'
import { type Config, toServerUrls } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { createTables } from './schema.ts'
import { openSqliteStore, SQLITE_FILE, toDamage } from './sqlite.ts'
import { askStore, type Store, type Tables, toJsonRows, tryWriting } from './store.ts'

/**
 * The first migration: nothing was deployed before it. A released migration is never edited: every
 * change is a new numbered migration, and all of them together lead to the tables in `schema.ts`.
 */
const BASELINE = '0001-tables'
const MIGRATIONS: Record<string, Migration> = { [BASELINE]: { up: createTables } }

/**
 * The store named by the environment, migrated and ready.
 * @throws OperatorError if a backup must be restored first, or another version migrated the store
 */
export async function openStore(config: Pick<Config, 'DATABASE_URL' | 'STATE_DIR'>, log: Log) {
  let store: Store | undefined
  try {
    store =
      config.DATABASE_URL === undefined
        ? await openSqliteStore(config.STATE_DIR)
        : openPostgresStore(config.DATABASE_URL, log)
    // Two instances may start at once: PostgreSQL's advisory lock, or SQLite's `BEGIN IMMEDIATE`, lets
    // one work while the other waits. If a migration fails, all are rolled back.
    const { error, results = [] } = await createMigrator(store).migrateToLatest()
    if (error !== undefined) throw toForeign(error) ?? error
    const migrations = results.map(({ migrationName }) => migrationName).join(' ')
    if (migrations !== '') log.info('store.migrated', { migrations })
    return store
  } catch (error) {
    await store?.close()
    throw toDamage(join(config.STATE_DIR, SQLITE_FILE), error) ?? error
  }
}

function createMigrator(store: Store): Migrator {
  return new Migrator({
    // The migrator works on whatever tables exist; the typed tables are its result.
    db: store.db as Kysely<unknown>,
    provider: { getMigrations: async () => MIGRATIONS },
  })
}

/** What to do about a ledger with migrations that this version does not know; null for other errors. */
function toForeign(error: unknown): OperatorError | null {
  const [, name] = /^Error: corrupted migrations: .* (\S+) is missing$/.exec(String(error)) ?? []
  if (name === undefined) return null
  return new OperatorError(
    name < BASELINE
      ? `This ledger is from an earlier version of Waypost (${name}) and cannot be migrated: start that version, or move the ledger away so that a new one is made.`
      : `A later version of Waypost migrated this ledger (${name}): start that version, or restore a backup made by this version.`,
  )
}

const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 2_000
const LOCK_TIMEOUT_MS = 2_000
const STATEMENT_TIMEOUT_MS = 10_000
/** `int8` and `numeric` (sums): counts and times, all far below 2^53. */
const NUMBERS = new Set<number>([20, 1700])

/** Connects lazily: a database that is down is noticed by `ping`, not here. */
function openPostgresStore(url: string, log: Log): Store {
  const pool = new pg.Pool({
    ...createPrimaryFinder(toServerUrls(url)),
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    lock_timeout: LOCK_TIMEOUT_MS,
    application_name: 'waypost',
    types: { getTypeParser },
  })
  // Without a listener, an idle connection that dies would be an uncaught error; the pool opens a new one.
  pool.on('error', (error) => log.error('store.connection_lost', { reason: error.message }))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  const close = () => pool.end()
  return {
    dialect: 'postgres',
    db,
    appendClicks: async (clicks) =>
      void (await sql`insert into click
        select * from json_populate_recordset(null::click, ${toJsonRows(clicks)}::json)`.execute(
        db,
      )),
    ping: () => tryWriting({ db }, Date.now()),
    close,
    [Symbol.asyncDispose]: close,
  }
}

/**
 * Limits how long a request waits for each query, even if the server hangs. After a timeout the
 * connection ends, because the next query could not know its state.
 */
function boundQueries(client: pg.Client): void {
  const { query } = client
  const bounded = (...given: unknown[]): unknown => {
    const result: unknown = Reflect.apply(query, client, given)
    if (!(result instanceof Promise)) return result
    return askStore(async (patienceMs) => {
      if (patienceMs === undefined) return result
      return within(patienceMs, result).catch((error: unknown) => {
        if (codeOf(error) === 'ETIMEOUT') client.end().catch(() => undefined)
        throw error
      })
    })
  }
  // One function covers the driver's overloads.
  Reflect.set(client, 'query', bounded)
}

/**
 * Connects to the server that accepts writes. A server that refuses, or only replicates another, is
 * skipped: after a standby was promoted, connections go to it.
 */
function createPrimaryFinder(urls: readonly string[]) {
  let at = 0
  const leave = (place: number) => {
    if (at === place) at = (place + 1) % urls.length
  }
  class Client extends pg.Client {
    readonly place = at
    constructor(options: pg.ClientConfig = {}) {
      super({ ...options, connectionString: urls[at] })
      // The query reports the error too. Without a listener, a server that dies now would end the process.
      this.on('error', () => undefined)
      boundQueries(this)
      let isConnected = false
      this.once('connect', () => {
        isConnected = true
      })
      this.once('end', () => isConnected || leave(this.place))
    }
  }
  return {
    Client,
    onConnect: async (client: pg.ClientBase) => {
      if (urls.length === 1 || !(client instanceof Client)) return
      const { rows } = await client.query('SELECT pg_is_in_recovery() AS follows')
      if (rows[0]?.follows === false) return
      leave(client.place)
      throw new Error('The store is a replica: no server accepts writes yet.')
    },
  }
}

const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format)
