import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { Kysely } from 'kysely'
import type { Click } from '../schema/click.ts'
import type { Store } from '../schema/store.ts'
import type { Tables } from '../schema/tables.ts'
import { openSqliteThread } from './connection.ts'
import { createSqliteDialect } from './dialect.ts'
import type { ClickCells } from './orders.ts'
import { makePrivateFile, makePrivateFolder } from './private-files.ts'

/** The database's file inside `STATE_DIR`. */
export const SQLITE_FILE = 'waypost.sqlite'

/** Opens (and creates) the SQLite state. Migrations are the caller's next step. */
export async function openSqliteStore(stateDir: string): Promise<Store> {
  const file = join(stateDir, SQLITE_FILE)
  makePrivateFolder(stateDir)
  makePrivateFile(file)
  for (const path of [`${file}-wal`, `${file}-shm`]) if (existsSync(path)) makePrivateFile(path)
  const connection = await openSqliteThread(file)
  const db = new Kysely<Tables>({ dialect: createSqliteDialect(connection) })
  return {
    dialect: 'sqlite',
    db,
    appendClicks: async (clicks) => {
      const cells = toCells(clicks)
      const release = await connection.acquire()
      await connection.insertClicks(cells).finally(release)
    },
    ping: async () => void (await connection.query({ sql: 'SELECT 1', parameters: [] })),
    // Kysely closes the driver only once it has run a query; close the thread either way.
    close: () => connection.close(),
  }
}

function toCells(clicks: readonly Click[]): ClickCells {
  const cells: ClickCells = []
  for (const { hour, listing_id, sid, pos, src, bot } of clicks) {
    cells.push(hour, listing_id, sid, pos, src, bot ? 1 : 0)
  }
  return cells
}
