import type { Kysely } from 'kysely'
import type { CountedScheme } from '../../../src/domain/settlement/schemes/schemes.ts'
import { addColumns } from './0001-baseline.ts'
import { maybe, table, textOf } from './columns.ts'

const scheme = maybe(textOf<CountedScheme>())

/** How something was paid; null in rows of before. */
export const SCHEMES_SEEN = { settlement: table({ scheme }), channel_event: table({ scheme }) }

export async function up(db: Kysely<unknown>): Promise<void> {
  await addColumns(db, SCHEMES_SEEN)
}
