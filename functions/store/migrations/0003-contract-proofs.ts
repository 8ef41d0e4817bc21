import type { Kysely } from 'kysely'
import { addColumns } from './0001-baseline.ts'
import { maybe, moment, table, text } from './columns.ts'

export const CONTRACT_PROOFS = {
  /** Of a wallet that is a contract: when it last said yes, and to what. A key's signature never changes. */
  payout_proof: table({
    checked_at: maybe(moment),
    challenge: maybe(text),
    signature: maybe(text),
  }),
}

export async function up(db: Kysely<unknown>): Promise<void> {
  await addColumns(db, CONTRACT_PROOFS)
}
