import { type Kysely, sql } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('claim')
    .addColumn('id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('listing_id', 'text', (c) => c.notNull())
    .addColumn('seller_id', 'text', (c) => c.notNull().references('seller.id').onDelete('cascade'))
    .addColumn('host', 'text', (c) => c.notNull())
    .addColumn('method', 'text', (c) => c.notNull())
    .addColumn('token', 'text', (c) => c.notNull().unique())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('created_at', moment, (c) => c.notNull())
    .addColumn('expires_at', moment, (c) => c.notNull())
    .addColumn('verified_at', moment)
    .addColumn('last_checked_at', moment)
    .addColumn('failing_since', moment)
    .modifyEnd(strict)
    .execute()
  await db.schema.createIndex('claim_seller').on('claim').column('seller_id').execute()
  // The rule "one verified claim per listing" holds even when two checks race.
  await db.schema
    .createIndex('claim_verified')
    .unique()
    .on('claim')
    .column('listing_id')
    .where(sql<boolean>`state = 'verified'`)
    .execute()
  await db.schema
    .createTable('opt_out')
    .addColumn('listing_id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('host', 'text', (c) => c.notNull())
    .addColumn('created_at', moment, (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
