import { randomUUID } from 'node:crypto'
import type { Kysely } from 'kysely'
import type { SellerTable, Tables } from '../../store/schema/tables.ts'

/** The seller behind an address that has just been proved; made at the first sign-in. */
export async function findOrCreateSeller(
  trx: Kysely<Tables>,
  email: string,
  now: number,
): Promise<SellerTable> {
  await trx
    .insertInto('seller')
    .values({ id: randomUUID(), email, created_at: now })
    .onConflict((conflict) => conflict.column('email').doNothing())
    .execute()
  return trx.selectFrom('seller').selectAll().where('email', '=', email).executeTakeFirstOrThrow()
}

export function toSellerView(email: string, createdAt: number) {
  return { email, created_at: new Date(createdAt).toISOString() }
}
