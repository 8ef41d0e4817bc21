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
