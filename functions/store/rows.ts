import { type SelectQueryBuilder, sql } from 'kysely'
import type { Store, Tables } from './schema/store.ts'

/** How many rows a query finds; PostgreSQL gives the number as text. */
export async function countRows<Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const rows = query.select(({ fn }) => fn.countAll<number>().as('count'))
  return Number((await rows.executeTakeFirstOrThrow()).count)
}

/**
 * Inserts rows by one parameter, so that the statement is the same for any number of them: neither made nor
 * prepared anew, and one text crosses to the store in place of each value.
 */
export async function insertTogether<Table extends keyof Tables>(
  { db, dialect }: Pick<Store, 'db' | 'dialect'>,
  table: Table,
  rows: readonly Tables[Table][],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  if (columns.length === 0) return
  const names = sql.join(columns.map((column) => sql.id(column)))
  const values = sql.join(columns.map((_, place) => sql`value ->> ${sql.lit(place)}`))
  const from =
    dialect === 'postgres'
      ? sql`select ${names} from json_populate_recordset(null::${sql.id(table)}, ${JSON.stringify(rows)}::json)`
      : sql`select ${values} from json_each(${JSON.stringify(rows.map((row) => Object.values(row)))})`
  await sql`insert into ${sql.id(table)} (${names}) ${from}`.execute(db)
}

/** Rows of one statement: a value each column, below the 32,766 that SQLite takes. */
const ROWS_A_STATEMENT = 1_000

export function inPieces<Row>(rows: readonly Row[], size = ROWS_A_STATEMENT): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, n) =>
    rows.slice(n * size, (n + 1) * size),
  )
}
