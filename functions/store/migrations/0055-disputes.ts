import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

/** What strangers say is wrong about a listing; nobody's name or address stands with it. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('dispute')
    .addColumn('id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('listing_id', 'text', (c) => c.notNull())
    .addColumn('reason', 'text', (c) => c.notNull())
    .addColumn('evidence_urls', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('note', 'text')
    .addColumn('created_at', moment, (c) => c.notNull())
    .addColumn('settled_at', moment)
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createIndex('dispute_state')
    .on('dispute')
    .columns(['state', 'listing_id'])
    .execute()
}
