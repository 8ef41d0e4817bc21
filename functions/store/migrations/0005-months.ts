import { type Kysely, sql } from 'kysely'
import { isPostgresDb } from './0001-baseline.ts'
import { addMonths, BY_MONTH } from './months.ts'

/** PostgreSQL keeps what grows every day by month. What is there already stays in a part of its own. */
export async function up(db: Kysely<unknown>): Promise<void> {
  if (!isPostgresDb(db)) return
  for (const [name, { column }] of Object.entries(BY_MONTH)) {
    const [table, before] = [sql.table(name), sql.table(`${name}_before`)]
    await sql`alter table ${table} rename to ${before}`.execute(db)
    await sql`create table ${table} (like ${before}) partition by range (${sql.ref(column)})`.execute(
      db,
    )
    await sql`create table ${sql.table(`${name}_other`)} partition of ${table} default`.execute(db)
    await sql`insert into ${table} select * from ${before}`.execute(db)
    await sql`drop table ${before}`.execute(db)
  }
  await sql`alter table usage_day add constraint usage_day_key primary key (listing_id, kind, day, src)`.execute(
    db,
  )
  await sql`create index click_listing on click (listing_id, hour)`.execute(db)
  await sql`create index click_hour on click (hour)`.execute(db)
  await addMonths(db, Date.now())
}
