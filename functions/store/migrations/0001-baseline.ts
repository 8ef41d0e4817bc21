import { type Kysely, PostgresAdapter, sql } from 'kysely'
import { BASELINE } from './0001-tables.ts'
import type { Column, Table } from './columns.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTables(db, BASELINE)
  for (const [index, columns] of Object.entries(INDEXES))
    await sql.raw(`create index ${index} on ${columns}`).execute(db)
  await sql.raw(ONE_VERIFIED_CLAIM).execute(db)
}

export async function createTables(db: Kysely<unknown>, tables: AnyTables): Promise<void> {
  const isPostgres = isPostgresDb(db)
  // STRICT makes SQLite keep the types it is told.
  const end = isPostgres ? '' : ' strict'
  for (const [name, { columns, constraint }] of Object.entries(tables)) {
    const create = isPostgres && UNLOGGED.has(name) ? 'create unlogged table' : 'create table'
    const rows = toColumns(columns, isPostgres)
    const body = constraint === undefined ? rows : [...rows, `constraint ${constraint}`]
    await sql.raw(`${create} ${name} (${body.join(', ')})${end}`).execute(db)
  }
}

export async function addColumns(db: Kysely<unknown>, tables: AnyTables): Promise<void> {
  for (const [name, { columns }] of Object.entries(tables))
    for (const column of toColumns(columns, isPostgresDb(db)))
      await sql.raw(`alter table ${name} add column ${column}`).execute(db)
}

type AnyTables = Record<string, Table<Record<string, Column<unknown>>>>

export function isPostgresDb(db: Kysely<unknown>): boolean {
  return db.getExecutor().adapter instanceof PostgresAdapter
}

function toColumns(columns: Record<string, Column<unknown>>, isPostgres: boolean): string[] {
  const wide = isPostgres ? 'bigint' : 'integer'
  return Object.entries(columns).map(
    ([column, { sql: rule }]) => `${column} ${rule.replace(/^moment\b/, wide)}`,
  )
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
  mail_job_due: 'mail_job (not_before)',
  settlement_check_due: 'settlement_check (state, not_before)',
  settlement_check_payment: 'settlement_check (payment)',
  settlement_time: 'settlement (settled_at)',
  settlement_block: 'settlement (network, block_number)',
  wallet_transfer_block: 'wallet_transfer (network, block_number)',
  channel_event_channel: 'channel_event (network, channel, block_number)',
  proposal_state: 'proposal (state, origin)',
  proposal_url: 'proposal (url)',
  dispute_state: 'dispute (state, listing_id)',
}
