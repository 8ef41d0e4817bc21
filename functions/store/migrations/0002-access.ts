import type { Kysely } from 'kysely'
import { createTables } from './0001-baseline.ts'
import { key, maybe, moment, table, unique } from './columns.ts'

export const ACCESS = {
  /** Who may read a closed directory; `token_hash` is a SHA-256, so a copy of this table opens nothing. */
  access_token: table({
    name: key,
    token_hash: unique,
    created_at: moment,
    expires_at: maybe(moment),
  }),
}

export async function up(db: Kysely<unknown>): Promise<void> {
  await createTables(db, ACCESS)
}
