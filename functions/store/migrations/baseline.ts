import { type Kysely, PostgresAdapter, sql } from 'kysely'
import type { Column, Table } from './columns.ts'
import { addMonths, BY_MONTH } from './months.ts'
import { PAYMENT_TABLES } from './payment-tables.ts'
import { RECEIPT_TABLES } from './receipt-tables.ts'
import { TABLES } from './tables.ts'

/** All tables. PostgreSQL partitions daily growing ones by month. */
export async function createTables(db: Kysely<unknown>): Promise<void> {
  const all = { ...TABLES, ...PAYMENT_TABLES, ...RECEIPT_TABLES }
  for (const [name, table] of Object.entries(all)) await createTable(db, name, table)
  if (isPostgres(db)) await addMonths(db, Date.now())
  for (const [index, columns] of Object.entries(INDEXES))
    await sql.raw(`create index ${index} on ${columns}`).execute(db)
  await sql.raw(ONE_VERIFIED_CLAIM).execute(db)
}

/** Waiting webhooks were keyed by their host; from now on each watch has its own lane. */
export async function addDeliveryHosts(db: Kysely<unknown>): Promise<void> {
  await sql`alter table delivery add column host text not null default ''`.execute(db)
  await sql`update delivery set host = lane, lane = id where channel = 'webhook'`.execute(db)
}

/**
 * One reader of chains: the meter reads what only the relay saw again where it counts, and the
 * queue of payments that the relay looked up is dropped.
 */
export async function keepOneReader(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'payment_hint', PAYMENT_TABLES.payment_hint)
  for (const statement of [
    'drop table settlement_check',
    "delete from settlement where seen_by = 'relay'",
    "update settlement set listing_id = '' where seen_by = 'meter'",
    'alter table settlement drop column seen_by',
  ])
    await sql.raw(statement).execute(db)
}

/** Receipts of paid calls, and their log. */
export async function addReceipts(db: Kysely<unknown>): Promise<void> {
  for (const [name, table] of Object.entries(RECEIPT_TABLES)) await createTable(db, name, table)
  await indexPages(db)
}

async function indexPages(db: Kysely<unknown>): Promise<void> {
  for (const name of ['receipt_page_listing', 'receipt_page_span'] as const)
    await sql.raw(`create index ${name} on ${INDEXES[name]}`).execute(db)
}

/** Receipts are stored in pages. Each former row becomes a page of its own. */
export async function packReceipts(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'receipt_page', RECEIPT_TABLES.receipt_page)
  await indexPages(db)
  // Both are hashes in hex, which need no escaping.
  const text = (column: string) => `coalesce('"' || ${column} || '"', 'null')`
  await sql
    .raw(
      `insert into receipt_page (position, listing_id, call, span, receipts)
        select position, listing_id, call, called_at / 4096, '[{"authorization":' || ${text('authorization_hash')}
          || ',"payment":' || ${text('payment')} || ',"receipt":' || body || '}]' from receipt`,
    )
    .execute(db)
  await sql`drop table receipt`.execute(db)
}

/** A verdict may be disputed, and not only a listing. */
export async function addDisputedReceipts(db: Kysely<unknown>): Promise<void> {
  await sql`alter table dispute add column receipt text`.execute(db)
}

/** A call is found by its payer's signed nonce, which is secret until it is on the chain. */
export async function addAuthorizations(
  db: Kysely<unknown>,
  tables: readonly ('settlement' | 'receipt')[],
): Promise<void> {
  for (const name of tables)
    await sql`alter table ${sql.table(name)} add column authorization_hash text`.execute(db)
}

/** Receipts are only read by listing: an index by time made each paid call more expensive. */
export async function dropReceiptTime(db: Kysely<unknown>): Promise<void> {
  await sql`drop index if exists receipt_time`.execute(db)
}

/**
 * Proposals, corrections and disputes become reports. Probes of a proposed service are dropped:
 * they are repeated for the decision. Decided proposals of a listing that saw nothing become
 * corrections.
 */
export async function uniteReports(db: Kysely<unknown>): Promise<void> {
  await createTable(db, 'report', TABLES.report)
  for (const statement of [
    `create index report_state on ${INDEXES.report_state}`,
    `create index report_listing on ${INDEXES.report_listing}`,
    `insert into report (id, kind, listing_id, receipt, text, links, state, reason, created_at, settled_at)
      select id, 'dispute', listing_id, receipt, reason, evidence_urls, state, note, created_at, settled_at
      from dispute`,
    `insert into report (id, kind, listing_id, text, links, email, state, reason, created_at, settled_at)
      select id, 'wrong', listing_id, note, '[]', email, state, reason, created_at, settled_at
      from proposal where ${IS_CORRECTION}`,
    `insert into report (id, kind, url, host, listing_id, text, links, email, state, reason, created_at, settled_at)
      select id, 'new', url, replace(replace(origin, 'https://', ''), 'http://', ''), listing_id, note, '[]',
        email, state, reason, created_at, settled_at
      from proposal where not (${IS_CORRECTION})`,
    'drop table dispute',
    'drop table proposal',
  ])
    await sql.raw(statement).execute(db)
}

const IS_CORRECTION = `listing_id is not null and (state = 'waiting' or found like '%"saw":"",%')`

/** Webhooks, watches and payment channels are gone; what waited in their queue is dropped with it. */
export async function keepMailsAlone(db: Kysely<unknown>): Promise<void> {
  for (const name of ['delivery', 'watch', 'watch_turn', 'channel_event'])
    await sql`drop table ${sql.table(name)}`.execute(db)
  await createTable(db, 'mail', TABLES.mail)
  for (const statement of [
    `create index mail_due on ${INDEXES.mail_due}`,
    'alter table claim add column told text',
    `alter table seller add column mails_off_at ${isPostgres(db) ? 'bigint' : 'integer'}`,
  ])
    await sql.raw(statement).execute(db)
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
  receipt_page_listing: 'receipt_page (listing_id, span)',
  receipt_page_span: 'receipt_page (span)',
}
