import { type Kysely, PostgresAdapter, sql } from 'kysely'

/**
 * Every table and index of the first ledger. `moment` stands for milliseconds since the epoch and
 * other numbers past 32 bits: PostgreSQL's `integer` has 32, SQLite's 64.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  const isPostgres = db.getExecutor().adapter instanceof PostgresAdapter
  // STRICT makes SQLite keep the types it is told.
  const [moment, end] = isPostgres ? [' bigint', ''] : [' integer', ' strict']
  for (const [table, columns] of Object.entries(TABLES)) {
    const create = isPostgres && UNLOGGED.has(table) ? 'create unlogged table' : 'create table'
    const body = columns.trim().replaceAll(' moment', moment)
    await sql.raw(`${create} ${table} (${body})${end}`).execute(db)
  }
  for (const [index, columns] of Object.entries(INDEXES))
    await sql.raw(`create index ${index} on ${columns}`).execute(db)
  await sql.raw(ONE_VERIFIED_CLAIM).execute(db)
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

const CLICKS = {
  click: `
    hour integer not null,
    listing_id text not null,
    sid text,
    pos integer,
    src text,
    bot integer not null`,
  click_day: `
    day integer not null,
    listing_id text not null,
    src text not null,
    clicks integer not null,
    constraint click_day_key primary key (listing_id, day, src)`,
  usage_day: `
    day integer not null,
    kind text not null,
    listing_id text not null,
    src text not null,
    uses integer not null,
    constraint usage_day_key primary key (listing_id, kind, day, src)`,
}

const SELLERS = {
  seller: `
    id text not null primary key,
    email text not null unique,
    created_at moment not null`,
  session: `
    id_hash text not null primary key,
    seller_id text not null references seller (id) on delete cascade,
    created_at moment not null,
    expires_at moment not null`,
  login_token: `
    email text not null primary key,
    token_hash text not null unique,
    created_at moment not null,
    expires_at moment not null`,
  attempt: `
    key text not null primary key,
    window_start moment not null,
    tries integer not null`,
  mail_job: `
    id text not null primary key,
    kind text not null,
    email text not null,
    payload text not null,
    created_at moment not null,
    expires_at moment not null,
    not_before moment not null,
    lease_until moment not null,
    attempts integer not null`,
}

/** A proof ends with its claim: whoever claims the listing later proves its payouts again. */
const CLAIMS = {
  claim: `
    id text not null primary key,
    listing_id text not null,
    seller_id text not null references seller (id) on delete cascade,
    host text not null,
    method text not null,
    token text not null unique,
    state text not null,
    created_at moment not null,
    expires_at moment not null,
    verified_at moment,
    last_checked_at moment,
    failing_since moment,
    last_check text`,
  opt_out: `
    listing_id text not null primary key,
    host text not null,
    created_at moment not null`,
  payout_challenge: `
    claim_id text not null references claim (id) on delete cascade,
    payout text not null,
    challenge text not null,
    expires_at moment not null,
    constraint payout_challenge_key primary key (claim_id, payout)`,
  payout_proof: `
    claim_id text not null references claim (id) on delete cascade,
    payout text not null,
    proven_at moment not null,
    checked_at moment,
    challenge text,
    signature text,
    constraint payout_proof_key primary key (claim_id, payout)`,
}

/** Each transfer counts once, ever, whoever reports it and for whichever listing. */
const SETTLEMENTS = {
  settlement_check: `
    id text not null primary key,
    listing_id text not null,
    claim text not null,
    payouts text not null,
    state text not null,
    reason text,
    created_at moment not null,
    not_before moment not null,
    lease_until moment not null,
    attempts integer not null,
    payment text not null default '',
    called_at moment not null default 0,
    answered_at moment not null default 0`,
  settlement: `
    network text not null,
    transaction_id text not null,
    log_index integer not null,
    listing_id text not null,
    payer text not null,
    payee text not null,
    amount text not null,
    micro_usd moment not null,
    settled_at moment not null,
    block_number moment,
    seen_by text not null default 'relay',
    constraint settlement_once primary key (network, transaction_id, log_index)`,
  wallet_transfer: `
    network text not null,
    transaction_id text not null,
    log_index integer not null,
    sender text not null,
    receiver text not null,
    amount text not null,
    sent_at moment not null,
    block_number moment,
    from_contract integer,
    constraint wallet_transfer_once primary key (network, transaction_id, log_index)`,
  channel_event: `
    network text not null,
    transaction_id text not null,
    log_index integer not null,
    block_number moment not null,
    at moment not null,
    channel text not null,
    kind text not null,
    amount text not null,
    payer text,
    payee text,
    constraint channel_event_key primary key (network, transaction_id, log_index)`,
}

const METER = {
  meter_cursor: `
    network text not null,
    payout text not null,
    first_block moment not null,
    next_block moment not null,
    read_until moment not null,
    mark text,
    constraint meter_cursor_key primary key (network, payout)`,
  meter_block: `
    network text not null,
    number moment not null,
    hash text not null,
    constraint meter_block_key primary key (network, number)`,
  meter_payer: `
    network text not null,
    payer text not null,
    first_block moment not null,
    first_paid_at moment not null,
    is_traced integer not null,
    paid_others_block moment,
    constraint meter_payer_key primary key (network, payer)`,
  lease: `
    name text not null primary key,
    holder text not null,
    held_until moment not null`,
}

const REVIEW = {
  probe_evidence: `
    listing_id text not null primary key,
    evidence text not null,
    probed_at moment not null`,
  proposal: `
    id text not null primary key,
    url text not null,
    origin text not null,
    note text not null,
    email text,
    found text not null,
    file text,
    state text not null,
    reason text,
    listing_id text,
    created_at moment not null,
    settled_at moment`,
  dispute: `
    id text not null primary key,
    listing_id text not null,
    reason text not null,
    evidence_urls text not null,
    state text not null,
    note text,
    created_at moment not null,
    settled_at moment`,
}

const TABLES = { ...CLICKS, ...SELLERS, ...CLAIMS, ...SETTLEMENTS, ...METER, ...REVIEW }
