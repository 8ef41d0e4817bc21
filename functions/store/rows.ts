import { CompiledQuery, type SelectQueryBuilder, sql } from 'kysely'
import type { Store, Tables } from './schema/store.ts'

/** How many rows a query finds; PostgreSQL returns the number as text. */
export async function countRows<Table extends keyof Tables>(
  query: SelectQueryBuilder<Tables, Table, object>,
): Promise<number> {
  const rows = query.select(({ fn }) => fn.countAll<number>().as('count'))
  return Number((await rows.executeTakeFirstOrThrow()).count)
}

/**
 * Inserts rows that are not there yet, with the same statement for any number of them, so it is built
 * and prepared once.
 * They are sent to PostgreSQL as one text, and to SQLite's thread as a list that it iterates.
 */
export async function insertTogether<Table extends keyof Tables>(
  { db, dialect }: Pick<Store, 'db' | 'dialect'>,
  table: Table,
  rows: readonly Tables[Table][],
): Promise<void> {
  const columns = Object.keys(rows[0] ?? {})
  if (columns.length === 0) return
  const names = sql.join(columns.map((column) => sql.id(column)))
  const into = sql`insert into ${sql.id(table)} (${names})`
  if (dialect === 'sqlite') {
    const marks = columns.map(() => '?').join(', ')
    const { sql: text } = sql`${into} values (${sql.raw(marks)}) on conflict do nothing`.compile(db)
    await db.executeQuery(CompiledQuery.raw(text, [rows.map((row) => Object.values(row))]))
  } else
    await sql`${into} select ${names} from json_populate_recordset(null::${sql.id(table)}, ${JSON.stringify(rows)}::json) on conflict do nothing`.execute(
      db,
    )
}

/** Rows of one statement: one value per column, below SQLite's limit of 32,766. */
const ROWS_A_STATEMENT = 1_000

export function inPieces<Row>(rows: readonly Row[], size = ROWS_A_STATEMENT): Row[][] {
  return Array.from({ length: Math.ceil(rows.length / size) }, (_, n) =>
    rows.slice(n * size, (n + 1) * size),
  )
}
