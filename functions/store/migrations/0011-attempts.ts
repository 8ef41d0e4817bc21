import { type Kysely, PostgresAdapter, sql } from 'kysely'

/** Counters of limits are written with every request and may be lost in a crash: no log for them. */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (db.getExecutor().adapter instanceof PostgresAdapter)
    await sql`alter table attempt set unlogged`.execute(db)
}
