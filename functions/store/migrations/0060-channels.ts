import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

/** What happened to payment channels with metered payouts: deposits, claims and refunds lie far apart. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('channel_event')
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('transaction_id', 'text', (c) => c.notNull())
    .addColumn('log_index', 'integer', (c) => c.notNull())
    .addColumn('block_number', moment, (c) => c.notNull())
    .addColumn('at', moment, (c) => c.notNull())
    .addColumn('channel', 'text', (c) => c.notNull())
    .addColumn('kind', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('payer', 'text')
    .addColumn('payee', 'text')
    .addPrimaryKeyConstraint('channel_event_key', ['network', 'transaction_id', 'log_index'])
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createIndex('channel_event_channel')
    .on('channel_event')
    .columns(['network', 'channel', 'block_number'])
    .execute()
}
