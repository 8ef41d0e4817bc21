import { type Kysely, sql } from 'kysely'
import { addColumns, createTables } from './0001-baseline.ts'
import { maybe, moment, table, text } from './columns.ts'

export const JOBS = {
  /** What machines have to do, see `functions/store/jobs.ts`. */
  job: table(
    { queue: text, key: text, due: moment, holder: text, held_until: moment },
    'job_key primary key (queue, key)',
  ),
}

export const ASKED = {
  /** When a server last began to ask the listing. */
  probe_evidence: table({ asked_at: maybe(moment) }),
}

/** Work that servers share instead of one lease for all of it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await createTables(db, JOBS)
  await addColumns(db, ASKED)
  await sql`create index job_due on job (queue, due)`.execute(db)
  await sql`drop table lease`.execute(db)
}
