import { type Kysely, sql } from 'kysely'
import { followMoves } from '../../src/domain/listing/listing-states.ts'
import { DAY_MS, HOUR_MS } from '../../src/domain/wire/shapes.ts'
import { RETENTION } from '../../src/domain/wire/vocabulary.ts'
import { addMonths, dropMonths } from '../store/schema.ts'
import { HOURS_A_DAY, type Store, type Tables, toDay, toHour } from '../store/store.ts'
import { countClicks } from './usage.ts'

/**
 * Deletes data that is no longer needed: search ids leave clicks after a day, and single clicks are
 * folded into counts by day. Safe to run at any time, on several instances at once, and again after
 * a crash.
 */
export async function applyRetention(store: Store, now: number): Promise<void> {
  await cutSearchIds(store, now)
  await foldClicks(store, now)
  await dropExpired(store, now)
  await dropIdleSellers(store, now)
}

async function cutSearchIds({ db }: Store, now: number): Promise<void> {
  await db
    .updateTable('click')
    .set({ sid: null })
    .where('hour', '<', toHour(now) - RETENTION.click_sid_hours)
    .where('sid', 'is not', null)
    .execute()
}

async function foldClicks({ db, dialect }: Store, now: number): Promise<void> {
  const limit = (toDay(now) - RETENTION.click_days) * HOURS_A_DAY
  await db.transaction().execute(async (trx) => {
    // Two instances folding the same rows would count them twice; with SQLite, BEGIN IMMEDIATE prevents that.
    if (dialect === 'postgres') {
      await sql`lock table click_day in exclusive mode`.execute(trx)
      await addMonths(trx, now)
    }
    await trx
      .insertInto('click_day')
      .columns(['day', 'listing_id', 'src', 'clicks'])
      .expression(countClicks(trx).where('hour', '<', limit))
      .onConflict((conflict) =>
        conflict.columns(['listing_id', 'day', 'src']).doUpdateSet((eb) => ({
          clicks: eb('click_day.clicks', '+', eb.ref('excluded.clicks')),
        })),
      )
      .execute()
    // A past month is deleted as a whole; days of the current month, row by row.
    if (dialect === 'postgres') await dropMonths(trx, 'click', limit / HOURS_A_DAY)
    await trx.deleteFrom('click').where('hour', '<', limit).execute()
  })
}

/** Table, time column, maximum age (in the column's unit) and, if given, the states whose rows are dropped. */
const DROPPED = [
  ['click_day', 'day', RETENTION.count_days],
  ['usage_day', 'day', RETENTION.count_days],
  ['login_token', 'expires_at', 0],
  ['session', 'expires_at', 0],
  ['mail', 'created_at', RETENTION.mail_hours * HOUR_MS],
  // Claims that are still pending at this age are deleted too.
  [
    'claim',
    'expires_at',
    RETENTION.closed_claim_days * DAY_MS,
    ['pending', 'expired', 'superseded', 'lapsed'],
  ],
  ['attempt', 'window_start', RETENTION.limit_hours * HOUR_MS],
  ['wallet_transfer', 'sent_at', RETENTION.transfer_days * DAY_MS],
  ['payment_hint', 'noted_at', RETENTION.closed_claim_days * DAY_MS],
  ['receipt', 'called_at', RETENTION.receipt_days * DAY_MS],
  ['report', 'settled_at', RETENTION.report_days * DAY_MS],
  ['report', 'created_at', RETENTION.waiting_report_days * DAY_MS, ['waiting']],
  // Rows of listings that are no longer probed.
  ['probe_evidence', 'probed_at', RETENTION.probe_days * DAY_MS],
] as const satisfies readonly (readonly [keyof Tables, string, number, string[]?])[]

async function dropExpired({ db, dialect }: Store, now: number): Promise<void> {
  if (dialect === 'postgres') await dropMonths(db, 'usage_day', toDay(now) - RETENTION.count_days)
  for (const [table, moment, kept, states] of DROPPED) {
    const isOfState = states === undefined ? sql`true` : sql`state in (${sql.join(states)})`
    const isOld = sql`${sql.ref(moment)} < ${(moment === 'day' ? toDay(now) : now) - kept}`
    await sql`delete from ${sql.table(table)} where ${isOld} and ${isOfState}`.execute(db)
  }
}

async function dropIdleSellers({ db }: Store, now: number): Promise<void> {
  const limit = now - RETENTION.idle_seller_days * DAY_MS
  await sql`delete from seller where created_at < ${limit}
    and not exists (select 1 from session where seller_id = seller.id)
    and not exists (select 1 from claim where seller_id = seller.id)`.execute(db)
}

/** Tables with several rows per listing. */
const PLAIN = ['click', 'settlement', 'report', 'receipt']
/** Tables with at most one row per listing; the current id's row wins over the former id's. */
const SINGLE = { probe_evidence: sql`true`, opt_out: sql`moved_to is null` }
/** Tables of counts, with the other columns of their keys; the counts for both ids are added up. */
const COUNTS = {
  click_day: { key: ['day', 'src'], count: 'clicks' },
  usage_day: { key: ['kind', 'day', 'src'], count: 'uses' },
}

/**
 * Moves the ledger's rows for moved listings to their current ids: clicks, payments, receipts,
 * reports, claims with their payout proofs, and an owner's opt-out. Running it again does nothing.
 * @param moves the next id of each former id
 * @param isListed whether the content has a listing with this id
 */
export async function moveRows(
  db: Kysely<Tables>,
  moves: ReadonlyMap<string, string>,
  isListed: (id: string) => boolean,
): Promise<void> {
  for (const from of moves.keys()) {
    const to = followMoves(moves, from)
    if (to !== null && isListed(to))
      await db.transaction().execute((trx) => moveListing(trx, from, to))
  }
}

async function moveListing(trx: Kysely<Tables>, from: string, to: string): Promise<void> {
  const rename = (table: string, where = sql`true`) =>
    sql`update ${sql.table(table)} set listing_id = ${to} where listing_id = ${from} and ${where}`.execute(
      trx,
    )
  for (const table of PLAIN) await rename(table)
  for (const [table, where] of Object.entries(SINGLE))
    await rename(
      table,
      sql`${where} and not exists (select 1 from ${sql.table(table)} there where there.listing_id = ${to})`,
    )
  await moveProofs(trx, from, to)
  // A seller who has already proved the new address owns the listing there; claims on the former address lapse.
  await rename(
    'claim',
    sql`not exists (select 1 from claim there where there.listing_id = ${to} and there.state = 'verified')`,
  )
  for (const [table, { key, count }] of Object.entries(COUNTS)) {
    const [name, sum, keys] = [
      sql.table(table),
      sql.ref(count),
      sql.join(key.map((k) => sql.ref(k))),
    ]
    await sql`insert into ${name} (listing_id, ${keys}, ${sum})
      select ${to}, ${keys}, ${sum} from ${name} where listing_id = ${from}
      on conflict (listing_id, ${keys}) do update set ${sum} = ${name}.${sum} + excluded.${sum}`.execute(
      trx,
    )
    await sql`delete from ${name} where listing_id = ${from}`.execute(trx)
  }
}

/** If one seller proved both addresses, payouts proved for the former id pass to the new id. */
async function moveProofs(trx: Kysely<Tables>, from: string, to: string): Promise<void> {
  await sql`update payout_proof set claim_id = (
      select now.id from claim now join claim was on was.seller_id = now.seller_id
      where was.id = payout_proof.claim_id and now.listing_id = ${to} and now.state = 'verified')
    where exists (
      select 1 from claim was join claim now on now.seller_id = was.seller_id
      where was.id = payout_proof.claim_id and was.listing_id = ${from} and was.state = 'verified'
        and now.listing_id = ${to} and now.state = 'verified'
        and not exists (select 1 from payout_proof own
          where own.claim_id = now.id and own.payout = payout_proof.payout))`.execute(trx)
}
