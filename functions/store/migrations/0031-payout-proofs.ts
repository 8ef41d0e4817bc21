import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

/** A proof ends with its claim: whoever claims the listing later proves its payouts again. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment, strict } = columnTypesFor(db)
  await db.schema
    .createTable('payout_challenge')
    .addColumn('claim_id', 'text', (c) => c.notNull().references('claim.id').onDelete('cascade'))
    .addColumn('payout', 'text', (c) => c.notNull())
    .addColumn('challenge', 'text', (c) => c.notNull())
    .addColumn('expires_at', moment, (c) => c.notNull())
    .addPrimaryKeyConstraint('payout_challenge_key', ['claim_id', 'payout'])
    .modifyEnd(strict)
    .execute()
  await db.schema
    .createTable('payout_proof')
    .addColumn('claim_id', 'text', (c) => c.notNull().references('claim.id').onDelete('cascade'))
    .addColumn('payout', 'text', (c) => c.notNull())
    .addColumn('proven_at', moment, (c) => c.notNull())
    .addPrimaryKeyConstraint('payout_proof_key', ['claim_id', 'payout'])
    .modifyEnd(strict)
    .execute()
}
