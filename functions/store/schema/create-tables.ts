import { type Kysely, PostgresAdapter, sql } from 'kysely'
import { addMonths, BY_MONTH } from './months.ts'
import { type Column, TABLES, type Table } from './tables.ts'

/** All tables. PostgreSQL partitions daily growing ones by month. */
export async function createTables(db: Kysely<unknown>): Promise<void> {
  for (const [name, table] of Object.entries(TABLES)) await createTable(db, name, table)
  if (isPostgres(db)) await addMonths(db, Date.now())
  for (const [index, columns] of Object.entries(INDEXES))
    await sql.raw(`create index ${index} on ${columns}`).execute(db)
  await sql.raw(ONE_VERIFIED_CLAIM).execute(db)
}

async function createTable(
  db: Kysely<unknown>,
  name: string,
  { columns, constraint }: Table<Record<string, Column<unknown>>>,
): Promise<void> {
  const wide = isPostgres(db) ? 'bigint' : 'integer'
  const rows = Object.entries(columns).map(
    ([column, { sql: rule }]) => `${column} ${rule.replace(/^moment\b/, wide)}`,
  )
  if (constraint !== undefined) rows.push(`constraint ${constraint}`)
  const create = isPostgres(db) && UNLOGGED.has(name) ? 'create unlogged table' : 'create table'
  const [, month] = (isPostgres(db) && Object.entries(BY_MONTH).find(([one]) => one === name)) || []
  const parts = month === undefined ? '' : ` partition by range (${month.column})`
  // STRICT makes SQLite enforce the declared types.
  const end = isPostgres(db) ? parts : ' strict'
  await sql.raw(`${create} ${name} (${rows.join(', ')})${end}`).execute(db)
  if (month !== undefined)
    await sql.raw(`create table ${name}_other partition of ${name} default`).execute(db)
}

function isPostgres(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

/** Counters of limits are written with every request and may be lost in a crash: no log for them. */
const UNLOGGED = new Set(['attempt'])

/** The rule "one verified claim per listing" holds even when two checks race. */
const ONE_VERIFIED_CLAIM =
  "create unique index claim_verified on claim (listing_id) where state = 'verified'"

const INDEXES = {
  click_listing: 'click (listing_id, hour)',
  click_hour: 'click (hour)',
  session_seller: 'session (seller_id)',
  claim_seller: 'claim (seller_id)',
  mail_due: 'mail (next_at)',
  settlement_time: 'settlement (settled_at)',
  settlement_block: 'settlement (network, block_number)',
  wallet_transfer_block: 'wallet_transfer (network, block_number)',
  report_state: 'report (state, kind)',
  report_listing: 'report (listing_id)',
  job_due: 'job (queue, due)',
  receipt_listing: 'receipt (listing_id, called_at)',
  receipt_time: 'receipt (called_at)',
}
