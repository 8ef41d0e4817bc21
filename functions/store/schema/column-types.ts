import { type Kysely, PostgresAdapter, type RawBuilder, sql } from 'kysely'

/** The two places where the databases' DDL differs. */
export interface ColumnTypes {
  /** Milliseconds since the epoch: PostgreSQL's `integer` has 32 bits, SQLite's 64. */
  moment: 'bigint' | 'integer'
  /** STRICT makes SQLite keep the types it is told. */
  strict: RawBuilder<unknown>
}

export function columnTypesFor(db: Kysely<unknown>): ColumnTypes {
  return db.getExecutor().adapter instanceof PostgresAdapter
    ? { moment: 'bigint', strict: sql`` }
    : { moment: 'integer', strict: sql`strict` }
}
