import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

export async function up(db: Kysely<unknown>): Promise<void> {
  await createChecks(db)
  await createSettlements(db)
  await createTransfers(db)
}

async function createChecks(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('settlement_check')
    .addColumn('id', 'text', (c) => c.primaryKey().notNull())
    .addColumn('listing_id', 'text', (c) => c.notNull())
    .addColumn('claim', 'text', (c) => c.notNull())
    .addColumn('payouts', 'text', (c) => c.notNull())
    .addColumn('state', 'text', (c) => c.notNull())
    .addColumn('reason', 'text')
    .addColumn('created_at', moment, (c) => c.notNull())
    .addColumn('not_before', moment, (c) => c.notNull())
    .addColumn('lease_until', moment, (c) => c.notNull())
    .addColumn('attempts', 'integer', (c) => c.notNull())
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createIndex('settlement_check_due')
    .on('settlement_check')
    .columns(['state', 'not_before'])
    .execute()
}

async function createSettlements(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  // Each transfer counts once, ever, whoever reports it and for whichever listing.
  await db.schema
    .createTable('settlement')
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('transaction_id', 'text', (c) => c.notNull())
    .addColumn('log_index', 'integer', (c) => c.notNull())
    .addColumn('listing_id', 'text', (c) => c.notNull())
    .addColumn('payer', 'text', (c) => c.notNull())
    .addColumn('payee', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('micro_usd', moment, (c) => c.notNull())
    .addColumn('settled_at', moment, (c) => c.notNull())
    .addPrimaryKeyConstraint('settlement_once', ['network', 'transaction_id', 'log_index'])
    .modifyEnd(strict)
    .execute()
  await db.schema.createIndex('settlement_time').on('settlement').column('settled_at').execute()
}

async function createTransfers(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('wallet_transfer')
    .addColumn('network', 'text', (c) => c.notNull())
    .addColumn('transaction_id', 'text', (c) => c.notNull())
    .addColumn('log_index', 'integer', (c) => c.notNull())
    .addColumn('sender', 'text', (c) => c.notNull())
    .addColumn('receiver', 'text', (c) => c.notNull())
    .addColumn('amount', 'text', (c) => c.notNull())
    .addColumn('sent_at', moment, (c) => c.notNull())
    .addPrimaryKeyConstraint('wallet_transfer_once', ['network', 'transaction_id', 'log_index'])
    .modifyEnd(strict)
    .execute()
}
