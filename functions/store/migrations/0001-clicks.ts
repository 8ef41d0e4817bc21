import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const { strict } = columnTypesFor(db)
  await db.schema
    .createTable('click')
    .addColumn('hour', 'integer', (c) => c.notNull())
    .addColumn('listing_id', 'text', (c) => c.notNull())
    .addColumn('sid', 'text')
    .addColumn('pos', 'integer')
    .addColumn('src', 'text')
    .addColumn('bot', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema.createIndex('click_listing').on('click').columns(['listing_id', 'hour']).execute()
  await db.schema.createIndex('click_hour').on('click').column('hour').execute()
  await db.schema
    .createTable('click_day')
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('listing_id', 'text', (c) => c.notNull())
    .addColumn('src', 'text', (c) => c.notNull())
    .addColumn('clicks', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('click_day_key', ['listing_id', 'day', 'src'])
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createTable('usage_day')
    .addColumn('day', 'integer', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('listing_id', 'text', (c) => c.notNull())
    .addColumn('src', 'text', (c) => c.notNull())
    .addColumn('uses', 'integer', (c) => c.notNull())
    .addPrimaryKeyConstraint('usage_day_key', ['listing_id', 'kind', 'day', 'src'])
    .modifyEnd(strict)
    .execute()
}
