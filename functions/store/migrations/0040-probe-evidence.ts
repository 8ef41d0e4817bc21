import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

/** What a server's own probes saw; it may have no content folder to write to. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('probe_evidence')
    .addColumn('listing_id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('evidence', 'text', (c) => c.notNull())
    .addColumn('probed_at', moment, (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
