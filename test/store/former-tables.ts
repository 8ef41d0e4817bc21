/** What puts the tables of proposals and disputes where that of reports is now. */
export const BEFORE_REPORTS: readonly string[] = [
  'drop table report',
  `create table proposal (id text not null primary key, url text not null, origin text not null,
    note text not null, email text, found text not null, file text, state text not null, reason text,
    listing_id text, created_at bigint not null, settled_at bigint)`,
  `create table dispute (id text not null primary key, listing_id text not null, reason text not null,
    evidence_urls text not null, state text not null, note text, created_at bigint not null,
    settled_at bigint)`,
]

/** What makes today's tables those with watches, a queue of deliveries and payment channels. */
export const BEFORE_MAILS = [
  'drop table mail',
  'alter table claim drop column told',
  'alter table seller drop column mails_off_at',
  `create table delivery (id text not null primary key, kind text not null, address text not null,
    payload text not null, created_at bigint not null, expires_at bigint not null,
    not_before bigint not null, lease_until bigint not null, attempts integer not null,
    channel text not null default 'mail', lane text not null default '')`,
  `create table watch (id text not null primary key, token text not null unique, kind text not null,
    target text not null, events text not null, email text, webhook text, secret text,
    owner text not null, state text not null, reason text, claim_id text references claim (id) on delete cascade,
    created_at bigint not null)`,
  'create table watch_turn (release text not null primary key, log text not null, seq bigint not null, told_at bigint not null)',
  `create table channel_event (network text not null, transaction_id text not null, log_index integer not null,
    block_number bigint not null, at bigint not null, channel text not null, kind text not null,
    amount text not null, payer text, payee text, scheme text)`,
]
