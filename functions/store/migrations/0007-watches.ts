import { randomBytes } from 'node:crypto'
import { type Kysely, sql } from 'kysely'
import { addColumns, createTables } from './0001-baseline.ts'
import type { BASELINE } from './0001-tables.ts'
import {
  key,
  maybe,
  moment,
  type RowsOf,
  table,
  text,
  textOf,
  unique,
  withRule,
} from './columns.ts'

const DELIVERY = {
  /** `lane` is the mailbox, or the host of a webhook: one server at a time delivers there. */
  delivery: table({
    channel: withRule(text, "default 'mail'"),
    lane: withRule(text, "default ''"),
  }),
}

/** What was the queue of mails, with an address of any kind. */
interface FormerMail {
  delivery: Omit<RowsOf<typeof BASELINE>['mail_job'], 'email'> & { address: string }
}

export const WATCHES = {
  /** Who is told what. Of a claim, its seller is told of the listing for as long as the claim is verified. */
  watch: table({
    id: key,
    /** In every link of the watch: its holder may see and end the watch. */
    token: unique,
    kind: textOf<'listing' | 'query' | 'payee'>(),
    target: text,
    /** Names with commas between them. */
    events: text,
    email: maybe(text),
    webhook: maybe(text),
    /** What deliveries to the webhook are signed with. */
    secret: maybe(text),
    /** Mailbox or webhook: one has a number of watches at most. */
    owner: text,
    state: textOf<'waiting' | 'live' | 'paused'>(),
    /** Why it is paused. */
    reason: maybe(text),
    claim_id: maybe(withRule(text, 'references claim (id) on delete cascade')),
    created_at: moment,
  }),
  /** Releases that watchers were told of, and where they end in the log of the server that did it. */
  watch_turn: table({ release: key, log: text, seq: moment, told_at: moment }),
}

export type WatchTables = FormerMail & RowsOf<typeof DELIVERY> & RowsOf<typeof WATCHES>

/** One queue for mails and webhooks, and watches; owners of claims have theirs. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await sql.raw('alter table mail_job rename to delivery').execute(db)
  await sql.raw('alter table delivery rename column email to address').execute(db)
  await addColumns(db, DELIVERY)
  await sql.raw('update delivery set lane = address').execute(db)
  await createTables(db, WATCHES)
  for (const index of ['delivery (lane, lease_until)', 'watch (kind, target)', 'watch (owner)'])
    await sql.raw(`create index ${index.replace(/\W+/g, '_')} on ${index}`).execute(db)
  const owners = sql<{ id: string; listing_id: string; email: string; verified_at: number }>`
    select claim.id, listing_id, email, verified_at from claim
    join seller on seller.id = seller_id where state = 'verified'`
  for (const { id, listing_id, email, verified_at } of (await owners.execute(db)).rows)
    await sql`insert into watch values (${id}, ${randomBytes(32).toString('base64url')}, 'listing',
      ${listing_id}, ${OWNER_EVENTS}, ${email}, null, null, ${email}, 'live', null, ${id},
      ${verified_at})`.execute(db)
}

/** What the owner of a claim is told of. */
export const OWNER_EVENTS = 'probe,price,payee,disputed'
