import {
  type CompiledQuery,
  type DatabaseConnection,
  type Dialect,
  type Driver,
  type QueryResult,
  SqliteAdapter,
  SqliteIntrospector,
  SqliteQueryCompiler,
} from 'kysely'
import { isSqliteValue, type SqliteConnection } from './connection.ts'

/**
 * Kysely over the SQLite thread. Kysely's own SQLite driver wants better-sqlite3, a native build
 * that Node 24 no longer needs.
 */
export function createSqliteDialect(connection: SqliteConnection): Dialect {
  return {
    createAdapter: () => new TransactionalSqliteAdapter(),
    createDriver: () => createDriver(connection),
    createIntrospector: (db) => new SqliteIntrospector(db),
    createQueryCompiler: () => new SqliteQueryCompiler(),
  }
}

/** SQLite can roll back DDL; saying so makes the migrator run inside one `BEGIN IMMEDIATE`. */
class TransactionalSqliteAdapter extends SqliteAdapter {
  override get supportsTransactionalDdl(): boolean {
    return true
  }
}

function createDriver(connection: SqliteConnection): Driver {
  const run = (sql: string) => connection.query({ sql, parameters: [] })
  const held = new WeakMap<DatabaseConnection, () => void>()
  return {
    init: async () => {},
    acquireConnection: async () => {
      const release = await connection.acquire()
      const mine: DatabaseConnection = { executeQuery, streamQuery }
      held.set(mine, release)
      return mine
    },
    // IMMEDIATE: a deferred transaction that reads first can fail half way when it turns to write.
    beginTransaction: async () => void (await run('BEGIN IMMEDIATE')),
    commitTransaction: async () => void (await run('COMMIT')),
    rollbackTransaction: async () => void (await run('ROLLBACK')),
    releaseConnection: async (mine) => held.get(mine)?.(),
    destroy: () => connection.close(),
  }

  async function executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    const { sql, parameters } = query
    const fit = parameters.filter(isSqliteValue)
    if (fit.length !== parameters.length) throw new TypeError(`A value SQLite cannot hold: ${sql}`)
    const { rows, changes } = await connection.query({ sql, parameters: fit })
    // The row type is Kysely's promise about the query it compiled; SQLite cannot confirm it.
    return { rows: rows as R[], numAffectedRows: BigInt(changes) }
  }
}

// biome-ignore lint/correctness/useYield: it refuses, but its type is Kysely's
async function* streamQuery(): AsyncIterableIterator<never> {
  throw new Error('Streaming from SQLite is not supported; read pages instead')
}
