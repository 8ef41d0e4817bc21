import type { Kysely } from 'kysely'
import { columnTypesFor } from '../schema/column-types.ts'

/** Longest relayed call that carries a payment: what a check says nothing about took no longer. */
const LONGEST_CALL_MS = 330_000

/** The call a check was queued for, and the payment it is about: of several, the first queued wins. */
export async function up(db: Kysely<unknown>): Promise<void> {
  const { moment } = columnTypesFor(db)
  await db.schema
    .alterTable('settlement_check')
    .addColumn('payment', 'text', (c) => c.notNull().defaultTo(''))
    .execute()
  for (const column of ['called_at', 'answered_at'])
    await db.schema
      .alterTable('settlement_check')
      .addColumn(column, moment, (c) => c.notNull().defaultTo(0))
      .execute()
  await db.schema
    .createIndex('settlement_check_payment')
    .on('settlement_check')
    .column('payment')
    .execute()
  await nameOldCalls(db as Kysely<{ settlement_check: OldCheck }>) // the table as it is now
}

interface OldCheck {
  id: string
  claim: string
  created_at: number
  payment: string
  called_at: number
  answered_at: number
}

async function nameOldCalls(db: Kysely<{ settlement_check: OldCheck }>): Promise<void> {
  const checks = await db
    .selectFrom('settlement_check')
    .select(['id', 'claim', 'created_at'])
    .execute()
  for (const { id, claim, created_at } of checks)
    await db
      .updateTable('settlement_check')
      .set({
        payment: namePayment(claim),
        called_at: created_at - LONGEST_CALL_MS,
        answered_at: created_at,
      })
      .where('id', '=', id)
      .execute()
}

/** As `paymentOf` named payments when this migration was written. */
function namePayment(text: string): string {
  const claim: unknown = JSON.parse(text)
  const read = (name: string) =>
    typeof claim === 'object' && claim !== null ? String(Reflect.get(claim, name) ?? '') : ''
  return [read('network'), read('transaction'), read('payer'), read('nonce')].join(' ').trim()
}
