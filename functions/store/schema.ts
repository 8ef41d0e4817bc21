import { type Kysely, PostgresAdapter, type QueryExecutorProvider, sql } from 'kysely'
import type { REPORT_STATES, ReportKind } from '../../src/domain/sellers/report.ts'
import type { CountedScheme } from '../../src/domain/trust/payments.ts'
import { DAY_MS } from '../../src/domain/wire/shapes.ts'
import type { ClaimMethod, ClaimState, ClickSource } from '../../src/domain/wire/vocabulary.ts'

/** A column as a migration creates it, with the type of its values for the queries. */
interface Column<Value> {
  sql: string
  /** Never set: the member only carries the type. */
  readonly value?: Value
}

/** A table's SQL: its columns by name, and a constraint over several of them. */
interface Table<Columns extends Record<string, Column<unknown>>> {
  columns: Columns
  constraint?: string
}

/** The tables' rows, by name, as the queries see them. */
export type RowsOf<Tables> = {
  [Name in keyof Tables]: Tables[Name] extends Table<infer Columns>
    ? { [Key in keyof Columns]: Columns[Key] extends Column<infer Value> ? Value : never }
    : never
}

const text: Column<string> = { sql: 'text not null' }
const integer: Column<number> = { sql: 'integer not null' }
/** Milliseconds since the epoch, and other numbers too large for PostgreSQL's 32-bit `integer`. */
const moment: Column<number> = { sql: 'moment not null' }
const key: Column<string> = { sql: 'text not null primary key' }
const unique: Column<string> = { sql: 'text not null unique' }

function textOf<Value extends string>(): Column<Value> {
  return { sql: text.sql }
}

function maybe<Value>({ sql }: Column<Value>): Column<Value | null> {
  return { sql: sql.replace(' not null', '') }
}

function withRule<Value>({ sql }: Column<Value>, rule: string): Column<Value> {
  return { sql: `${sql} ${rule}` }
}

function table<Columns extends Record<string, Column<unknown>>>(
  columns: Columns,
  constraint?: string,
): Table<Columns> {
  return { columns, ...(constraint !== undefined && { constraint }) }
}

export const USAGE_KINDS = ['impression', 'call'] as const

const ofSeller = withRule(text, 'references seller (id) on delete cascade')
/** A proof ends with its claim: the listing's next owner proves its payouts again. */
const ofClaim = withRule(text, 'references claim (id) on delete cascade')
/** `''` if a click or search named no source. */
const source = textOf<ClickSource | ''>()

/** A transfer's position on its chain. */
const transfer = { network: text, transaction_id: text, log_index: integer }
/** The payment scheme; null if it was not looked up. */
const scheme = maybe(textOf<CountedScheme>())

/**
 * Times are milliseconds since the epoch, days and hours are whole numbers since the epoch (UTC),
 * flags are 0 or 1: the same values in both databases.
 */
export const TABLES = {
  click: table({
    hour: integer,
    listing_id: text,
    sid: maybe(text),
    pos: maybe(integer),
    src: maybe(textOf<ClickSource>()),
    bot: integer,
  }),
  /** Old clicks, folded into counts. */
  click_day: table(
    { day: integer, listing_id: text, src: source, clicks: integer },
    'click_day_key primary key (listing_id, day, src)',
  ),
  usage_day: table(
    {
      day: integer,
      kind: textOf<(typeof USAGE_KINDS)[number]>(),
      listing_id: text,
      src: source,
      uses: integer,
    },
    'usage_day_key primary key (listing_id, kind, day, src)',
  ),
  /** `mails_off_at`: when the seller turned off email about changes to their listings. */
  seller: table({
    id: key,
    email: unique,
    created_at: moment,
    mails_off_at: maybe(moment),
  }),
  /** `id_hash` is the SHA-256 of the cookie's value: nobody can sign in with a copy of this table. */
  session: table({ id_hash: key, seller_id: ofSeller, created_at: moment, expires_at: moment }),
  /** One row per address, so that a newer link replaces the older one. */
  login_token: table({ email: key, token_hash: unique, created_at: moment, expires_at: moment }),
  /** Tries counted per window, shared by all instances. `key` contains no address, only a hash. */
  attempt: table({ key, window_start: moment, tries: integer }),
  /**
   * Emails waiting to be sent. `payload` is JSON and never contains a secret: links are made when sending. A server
   * that sends an email first moves `next_at`, so that no other server sends the same one.
   */
  mail: table({
    id: key,
    kind: text,
    address: text,
    payload: text,
    created_at: moment,
    next_at: moment,
    tries: integer,
  }),
  claim: table({
    id: key,
    listing_id: text,
    seller_id: ofSeller,
    /** The exact host that the proof covers. */
    host: text,
    method: textOf<ClaimMethod>(),
    token: unique,
    state: textOf<ClaimState>(),
    created_at: moment,
    expires_at: moment,
    verified_at: maybe(moment),
    last_checked_at: maybe(moment),
    failing_since: maybe(moment),
    /** What the last check saw, as JSON, for the seller; foreign text is cut and made inert. */
    last_check: maybe(text),
    /** The listing's state as last emailed to the owner, as JSON; null before the first comparison. */
    told: maybe(text),
  }),
  /** `moved_to` is the id the owner named for the listing. */
  opt_out: table({ listing_id: key, host: text, created_at: moment, moved_to: maybe(text) }),
  /** A text for a seller to sign; `payout` is CAIP-10, EVM in lower case. */
  payout_challenge: table(
    { claim_id: ofClaim, payout: text, challenge: text, expires_at: moment },
    'payout_challenge_key primary key (claim_id, payout)',
  ),
  /** A contract wallet's signature, and when it was last confirmed. A key's signature never changes. */
  payout_proof: table(
    {
      claim_id: ofClaim,
      payout: text,
      proven_at: moment,
      checked_at: maybe(moment),
      challenge: maybe(text),
      signature: maybe(text),
    },
    'payout_proof_key primary key (claim_id, payout)',
  ),
  /** Evidence from a server's own probes: the same JSON as in an evidence file. */
  probe_evidence: table({
    listing_id: key,
    evidence: text,
    probed_at: moment,
    /** When a server last began to probe the listing. */
    asked_at: maybe(moment),
  }),
  /** Reports by anybody, and the reviewers' decisions. */
  report: table({
    id: key,
    kind: textOf<ReportKind>(),
    /** A new service's address and host; null if the report is about a listing. */
    url: maybe(text),
    host: maybe(text),
    /** The listing that the report is about, or that was added because of the report. */
    listing_id: maybe(text),
    /** The receipt whose verdict is disputed. */
    receipt: maybe(text),
    text,
    /** JSON list. */
    links: text,
    /** Null once the report is decided. */
    email: maybe(text),
    state: textOf<(typeof REPORT_STATES)[number]>(),
    /** The reviewer's reason for the decision. */
    reason: maybe(text),
    created_at: moment,
    settled_at: maybe(moment),
  }),
  /** Readers of a closed directory; `token_hash` is a SHA-256, so a copy of this table grants no access. */
  access_token: table({
    name: key,
    token_hash: unique,
    created_at: moment,
    expires_at: maybe(moment),
  }),
  /** Background jobs, see `functions/store/jobs.ts`. */
  job: table(
    { queue: text, key: text, due: moment, holder: text, held_until: moment },
    'job_key primary key (queue, key)',
  ),
  /** A relayed call's hint about its payment, in one of the listing's slots. A hint proves nothing. */
  payment_hint: table(
    { listing_id: text, place: integer, transaction_id: text, noted_at: moment },
    'payment_hint_key primary key (listing_id, place)',
  ),
  /** Each payment that the meter saw: one row, even if several sellers may claim it. */
  settlement: table(
    {
      ...transfer,
      /** Which of the owner's listings was called, if the relay noted it; otherwise ''. */
      listing_id: text,
      payer: text,
      payee: text,
      amount: text,
      micro_usd: moment,
      settled_at: moment,
      block_number: maybe(moment),
      scheme,
      /** Hash of payee, payer and the signed nonce (EIP-3009), used to find the call that carried the payment. */
      authorization_hash: maybe(text),
    },
    'settlement_once primary key (network, transaction_id, log_index)',
  ),
  /** Transfers that payout wallets sent, or that payers received before paying: only for wash rules. */
  wallet_transfer: table(
    {
      ...transfer,
      sender: text,
      receiver: text,
      amount: text,
      sent_at: moment,
      block_number: maybe(moment),
      /** Whether `sender` is a contract; null if not checked. */
      from_contract: maybe(integer),
    },
    'wallet_transfer_once primary key (network, transaction_id, log_index)',
  ),
  /** How far one payout (an address, EVM in lower case) has been read: EVM by blocks, Solana by signatures. */
  meter_cursor: table(
    {
      network: text,
      payout: text,
      first_block: moment,
      next_block: moment,
      /** Time of the last block read. */
      read_until: moment,
      /** Newest signature read (Solana). */
      mark: maybe(text),
    },
    'meter_cursor_key primary key (network, payout)',
  ),
  /** Hashes of blocks that were read, to notice blocks that have left the chain. */
  meter_block: table(
    { network: text, number: moment, hash: text },
    'meter_block_key primary key (network, number)',
  ),
  meter_payer: table(
    {
      network: text,
      payer: text,
      first_block: moment,
      first_paid_at: moment,
      /** Whether the wallets that funded the payer were traced. */
      is_traced: integer,
      /** A block in which the payer paid somebody else by the same means. */
      paid_others_block: maybe(moment),
    },
    'meter_payer_key primary key (network, payer)',
  ),
  /** Receipts for paid calls. They contain no part of a request or an answer. */
  receipt: table({
    id: key,
    listing_id: text,
    /** The operation's method and address, as in the content. */
    call: text,
    called_at: moment,
    /** Canonical JSON. */
    receipt: text,
    /** Hash of payee and payer, and hash of both with the signed nonce, used to find the payment. */
    payment_hash: maybe(text),
    authorization_hash: maybe(text),
    /** Whether the seller's answer names the transaction. */
    is_named: integer,
  }),
  /** Keys that sign receipts; the secret of a retired key is deleted. */
  receipt_key: table({
    id: key,
    public_key: text,
    secret: maybe(text),
    created_at: moment,
    retired_at: maybe(moment),
  }),
}

/** Creates all tables. PostgreSQL partitions the tables in `BY_MONTH` by month. */
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

/** Counters for rate limits are written with every request and may be lost in a crash, so they need no WAL. */
const UNLOGGED = new Set(['attempt'])

/** The rule "one verified claim per listing" holds even if two checks race. */
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

/** Tables that PostgreSQL partitions by month: the time column, and its units per day. */
const BY_MONTH = {
  click: { column: 'hour', unitsADay: 24 },
  usage_day: { column: 'day', unitsADay: 1 },
} as const

/** Months created in advance; rows for any other month go to the partition `<table>_other`. */
const AHEAD = [1, 2]

export async function addMonths(db: QueryExecutorProvider, now: number): Promise<void> {
  const [year, month] = [new Date(now).getUTCFullYear(), new Date(now).getUTCMonth()]
  for (const [table, { unitsADay }] of Object.entries(BY_MONTH))
    for (const ahead of AHEAD) {
      const [from = 0, to = 0] = [ahead, ahead + 1].map((n) => Date.UTC(year, month + n))
      const name = `${table}_${new Date(from).toISOString().slice(0, 7).replace('-', '')}`
      const bound = (moment: number) => sql.lit((moment / DAY_MS) * unitsADay)
      await sql`create table if not exists ${sql.table(name)} partition of ${sql.table(table)}
        for values from (${bound(from)}) to (${bound(to)})`.execute(db)
    }
}

/** Drops the partitions for months that lie entirely before a day (days since the epoch). */
export async function dropMonths(
  db: QueryExecutorProvider,
  table: keyof typeof BY_MONTH,
  day: number,
): Promise<void> {
  const { rows } = await sql<{ name: string }>`select inhrelid::regclass::text as name
    from pg_inherits where inhparent = ${table}::regclass`.execute(db)
  for (const { name } of rows) {
    const [, year, month] = /_(\d{4})(\d\d)$/.exec(name) ?? []
    if (month !== undefined && Date.UTC(Number(year), Number(month)) <= day * DAY_MS)
      await sql`drop table if exists ${sql.table(name)}`.execute(db)
  }
}
