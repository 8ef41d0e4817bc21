import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

/** What strangers proposed and people have not decided yet, or decided lately. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('proposal')
    .addColumn('id', 'text', (c) => c.primaryKey())
    .addColumn('url', 'text', (c) => c.notNull())
    .addColumn('origin', 'text', (c) => c.notNull())
    .addColumn('note', 'text', (c) => c.notNull())
    .addColumn('email', 'text')
    .addColumn('found', 'text', (c) => c.notNull())
    .addColumn('file', 'text')
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('reason', 'text')
    .addColumn('listing_id', 'text')
    .addColumn('created_at', moment, (c) => c.notNull())
    .addColumn('settled_at', moment)
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createIndex('proposal_state')
    .on('proposal')
    .columns(['state', 'origin'])
    .execute()
  await db.schema.createIndex('proposal_url').on('proposal').column('url').execute()
}
