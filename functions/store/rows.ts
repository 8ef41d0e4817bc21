import type { SelectQueryBuilder } from 'kysely'
import type { Tables } from './schema/store.ts'

/** How many rows a query finds; PostgreSQL gives the number as text. */
export async function countRows<Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const rows = query.select(({ fn }) => fn.countAll<number>().as('count'))
  return Number((await rows.executeTakeFirstOrThrow()).count)
}

/** Rows of one statement: a value each column, below the 32,766 that SQLite takes. */
const ROWS_A_STATEMENT = 1_000

export function inPieces<Row>(rows: readonly Row[], size = ROWS_A_STATEMENT): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, n) =>
    rows.slice(n * size, (n + 1) * size),
  )
}
