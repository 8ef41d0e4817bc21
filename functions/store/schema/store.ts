import type { Kysely } from 'kysely'
import type { Click } from './click.ts'
import type { RowsOf, TABLES } from './tables.ts'

/**
 * Everything that must be remembered. Two implementations, SQLite on one machine and PostgreSQL for
 * many, pass the same tests.
 *
 * Inside `db.transaction()` use only the transaction's own handle: SQLite has one connection, and a
 * query on `db` would wait for its own transaction.
 */
export interface Store extends AsyncDisposable {
  readonly dialect: 'sqlite' | 'postgres'
  readonly db: Kysely<Tables>
  /** Appends the clicks in one commit; resolves once they would survive a crash. */
  appendClicks(clicks: readonly Click[]): Promise<void>
  /** Rejects when the store cannot take a write now, or its disk is about to be full. */
  ping(): Promise<void>
  close(): Promise<void>
}

/** @throws the store's error when it takes no write: `ping` of both stores */
export async function tryWriting({ db }: Pick<Store, 'db'>, now: number): Promise<void> {
  await db
    .insertInto('job')
    .values({ queue: 'ready', key: '', due: now, holder: '', held_until: 0 })
    .onConflict((conflict) => conflict.columns(['queue', 'key']).doUpdateSet({ due: now }))
    .execute()
}

/** The tables as the queries see them, each with its own columns. */
export type Tables = RowsOf<typeof TABLES>

export type ClaimTable = Tables['claim']
export type MailTable = Tables['mail']
export type MeterCursorTable = Tables['meter_cursor']
export type MeterPayerTable = Tables['meter_payer']
export type PayoutProofTable = Tables['payout_proof']
export type ReportTable = Tables['report']
export type UsageDayTable = Tables['usage_day']
