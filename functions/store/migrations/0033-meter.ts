import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

/** How far the meter has read each payout, the blocks it remembers, and the payers it met. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('meter_cursor')
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('payout', 'text', (c) => c.notNull())
    .addColumn('first_block', moment, (c) => c.notNull())
    .addColumn('next_block', moment, (c) => c.notNull())
    .addColumn('read_until', moment, (c) => c.notNull())
    .addColumn('mark', 'text')
    .addPrimaryKeyConstraint('meter_cursor_key', ['network', 'payout'])
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createTable('meter_block')
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('number', moment, (c) => c.notNull())
    .addColumn('hash', 'text', (c) => c.notNull())
    .addPrimaryKeyConstraint('meter_block_key', ['network', 'number'])
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createTable('meter_payer')
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('payer', 'text', (c) => c.notNull())
    .addColumn('first_block', moment, (c) => c.notNull())
    .addColumn('first_paid_at', moment, (c) => c.notNull())
    .addColumn('is_traced', 'integer', (c) => c.notNull())
    .addColumn('paid_others_block', moment)
    .addPrimaryKeyConstraint('meter_payer_key', ['network', 'payer'])
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createTable('lease')
    .addColumn('name', 'text', (c) => c.primaryKey().notNull())
    .addColumn('holder', 'text', (c) => c.notNull())
    .addColumn('held_until', moment, (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
}
