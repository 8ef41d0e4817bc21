import { Kysely, PostgresDialect } from 'kysely'
import pg from 'pg'
import type { Log } from '../ports/log.ts'
import type { Click } from './schema/click.ts'
import { type Store, tryWriting } from './schema/store.ts'
import type { Tables } from './schema/tables.ts'

const POOL_SIZE = 10
const CONNECT_TIMEOUT_MS = 5_000
const STATEMENT_TIMEOUT_MS = 10_000
/** `int8` and `numeric` (sums): counts and moments, all far below 2^53. */
const NUMBERS = new Set<number>([20, 1700])

const INSERT_CLICKS = `INSERT INTO click (hour, listing_id, sid, pos, src, bot)
  SELECT * FROM unnest($1::int[], $2::text[], $3::text[], $4::int[], $5::text[], $6::int[])`

/** Connects lazily: a database that is down shows in `ping`, not here. */
export function openPostgresStore(url: string, log: Log): Store {
  const pool = new pg.Pool({
    connectionString: url,
    max: POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: STATEMENT_TIMEOUT_MS,
    application_name: 'waypost',
    types: { getTypeParser },
  })
  // An idle connection that dies would else be an uncaught error; the pool opens a new one.
  pool.on('error', (error) => log.error('store.connection_lost', { reason: error.message }))
  const db = new Kysely<Tables>({ dialect: new PostgresDialect({ pool }) })
  return {
    dialect: 'postgres',
    db,
    // A single statement is its own transaction: one commit for the group.
    appendClicks: async (clicks) =>
      void (await pool.query({ name: 'clicks', text: INSERT_CLICKS, values: toColumns(clicks) })),
    ping: () => tryWriting({ db }, Date.now()),
    close: () => pool.end(),
  }
}

const getTypeParser: typeof pg.types.getTypeParser = (oid, format) =>
  NUMBERS.has(oid) ? Number : pg.types.getTypeParser(oid, format)

function toColumns(clicks: readonly Click[]): unknown[] {
  return [
    clicks.map((click) => click.hour),
    clicks.map((click) => click.listing_id),
    clicks.map((click) => click.sid),
    clicks.map((click) => click.pos),
    clicks.map((click) => click.src),
    clicks.map((click) => (click.bot ? 1 : 0)),
  ]
}
