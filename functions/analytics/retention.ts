import { sql } from 'kysely'
import { RETENTION } from '../../src/domain/wire/retention.ts'
import { addMonths, dropMonths } from '../store/schema.ts'
import type { Store, Tables } from '../store/store.ts'
import { HOURS_A_DAY, toDay, toHour } from '../store/store.ts'
import { countClicks } from './read-clicks.ts'

const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000

/**
 * Search ids leave clicks after a day, single clicks are folded to counts by day, counts are dropped
 * after thirteen months, and everything else goes when it has served its purpose. Safe to run at any time, on several instances at once, and again after a crash.
 */
export async function applyRetention(store: Store, now: number): Promise<void> {
  await cutSearchIds(store, now)
  await foldClicks(store, now)
  await dropOldCounts(store, now)
  await dropExpired(store, now)
  await dropClosedClaims(store, now)
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
    // Two instances folding the same rows would count them twice; SQLite's BEGIN IMMEDIATE is the lock.
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
    // A month that has passed is deleted as a whole; days of the current month, row by row.
    if (dialect === 'postgres') await dropMonths(trx, 'click', limit / HOURS_A_DAY)
    await trx.deleteFrom('click').where('hour', '<', limit).execute()
  })
}

async function dropOldCounts({ db, dialect }: Store, now: number): Promise<void> {
  const limit = toDay(now) - RETENTION.count_days
  if (dialect === 'postgres') await dropMonths(db, 'usage_day', limit)
  await db.deleteFrom('click_day').where('day', '<', limit).execute()
  await db.deleteFrom('usage_day').where('day', '<', limit).execute()
}

/** How long rows are kept after their timestamp (milliseconds), some only in one state. */
const DROPPED = [
  ['login_token', 'expires_at', 0],
  ['session', 'expires_at', 0],
  ['mail', 'created_at', RETENTION.mail_hours * HOUR_MS],
  ['attempt', 'window_start', RETENTION.limit_hours * HOUR_MS],
  ['wallet_transfer', 'sent_at', RETENTION.transfer_days * DAY_MS],
  ['payment_hint', 'noted_at', RETENTION.closed_claim_days * DAY_MS],
  ['receipt', 'called_at', RETENTION.receipt_days * DAY_MS],
  ['report', 'settled_at', RETENTION.report_days * DAY_MS],
  ['report', 'created_at', RETENTION.waiting_report_days * DAY_MS, ['waiting']],
  // Of listings whose probing has ended.
  ['probe_evidence', 'probed_at', RETENTION.probe_days * DAY_MS],
] as const satisfies readonly (readonly [keyof Tables, string, number, string[]?])[]

async function dropExpired({ db }: Store, now: number): Promise<void> {
  for (const [table, moment, ms, states] of DROPPED) {
    const isOfState = states === undefined ? sql`true` : sql`state in (${sql.join(states)})`
    const isOld = sql`${sql.ref(moment)} < ${now - ms}`
    await sql`delete from ${sql.table(table)} where ${isOld} and ${isOfState}`.execute(db)
  }
}

async function dropClosedClaims({ db }: Store, now: number): Promise<void> {
  await db
    .updateTable('claim')
    .set({ state: 'expired' })
    .where('state', '=', 'pending')
    .where('expires_at', '<', now)
    .execute()
  await db
    .deleteFrom('claim')
    .where('state', 'in', ['expired', 'superseded', 'lapsed'])
    .where('expires_at', '<', now - RETENTION.closed_claim_days * DAY_MS)
    .execute()
  await db
    .deleteFrom('seller')
    .where('created_at', '<', now - RETENTION.idle_seller_days * DAY_MS)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('session').select('id_hash').whereRef('seller_id', '=', 'seller.id'))),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('claim').select('claim.id').whereRef('seller_id', '=', 'seller.id'))),
    )
    .execute()
}
