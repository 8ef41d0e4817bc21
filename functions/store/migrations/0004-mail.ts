import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('mail_job')
    .addColumn('id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('email', 'text', (c) => c.notNull())
    .addColumn('payload', 'text', (c) => c.notNull())
    .addColumn('created_at', moment, (c) => c.notNull())
    .addColumn('expires_at', moment, (c) => c.notNull())
    .addColumn('not_before', moment, (c) => c.notNull())
    .addColumn('lease_until', moment, (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema.createIndex('mail_job_due').on('mail_job').column('not_before').execute()
}
