import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

/** Where payments stand on their chain, and who of ours saw them there: the relay, the meter, both. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment } = columnTypesFor(db)
  await db.schema.alterTable('settlement').addColumn('block_number', moment).execute()
  await db.schema
    .alterTable('settlement')
    .addColumn('seen_by', 'text', (c) => c.notNull().defaultTo('relay'))
    .execute()
  await db.schema.alterTable('wallet_transfer').addColumn('block_number', moment).execute()
  await db.schema.alterTable('wallet_transfer').addColumn('from_contract', 'integer').execute()
  await db.schema
    .createIndex('settlement_block')
    .on('settlement')
    .columns(['network', 'block_number'])
    .execute()
  await db.schema
    .createIndex('wallet_transfer_block')
    .on('wallet_transfer')
    .columns(['network', 'block_number'])
    .execute()
}
