import type { SelectQueryBuilder } from 'kysely'
import type { Tables } from './schema/tables.ts'

/**
 * How many rows a query finds; PostgreSQL gives the number as text.
 *
 * @example await countRows(db.selectFrom('watch').where('state', '=', 'live'))
 */
export async function countRows<Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const rows = query.select(({ fn }) => fn.countAll<number>().as('count'))
  return Number((await rows.executeTakeFirstOrThrow()).count)
}
