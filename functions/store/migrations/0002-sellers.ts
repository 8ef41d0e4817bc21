import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('seller')
    .addColumn('id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('email', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', moment, (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createTable('session')
    .addColumn('id_hash', 'text', (c) => c.primaryKey().notNull())
    .addColumn('seller_id', 'text', (c) => c.notNull().references('seller.id').onDelete('cascade'))
    .addColumn('created_at', moment, (c) => c.notNull())
    .addColumn('expires_at', moment, (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema.createIndex('session_seller').on('session').column('seller_id').execute()
  await db.schema
    .createTable('login_token')
    .addColumn('email', 'text', (c) => c.primaryKey().notNull())
    .addColumn('token_hash', 'text', (c) => c.notNull().unique())
    .addColumn('created_at', moment, (c) => c.notNull())
    .addColumn('expires_at', moment, (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createTable('attempt')
    .addColumn('key', 'text', (c) => c.primaryKey().notNull())
    .addColumn('window_start', moment, (c) => c.notNull())
    .addColumn('tries', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
