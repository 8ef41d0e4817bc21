import type { Kysely } from 'kysely'
import { addColumns } from './0001-baseline.ts'
import { maybe, table, text } from './columns.ts'

export const MOVES = {
  /** Where the owner says the listing is listed now. */
  opt_out: table({ moved_to: maybe(text) }),
}

/** What owners say of listings that have another id. */
export async function up(db: Kysely<unknown>): Promise<void> {
  await addColumns(db, MOVES)
}
