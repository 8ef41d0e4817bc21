import { join } from 'node:path'
import type { Config } from '../ports/config.ts'
import type { Log } from '../ports/log.ts'
import { migrateStore } from './migrate.ts'
import { openPostgresStore } from './postgres-store.ts'
import type { Store } from './schema/store.ts'
import { openSqliteStore, SQLITE_FILE, toDamage } from './sqlite/store.ts'

/**
 * The store the environment asks for, migrated and ready.
 *
 * @throws OperatorError where a backup must be restored first
 */
export async function openStore(
  config: Pick<Config, 'DATABASE_URL' | 'STATE_DIR'>,
  log: Log,
): Promise<Store> {
  try {
    return await openMigrated(config, log)
  } catch (error) {
    throw toDamage(join(config.STATE_DIR, SQLITE_FILE), error) ?? error
  }
}

async function openMigrated(
  config: Pick<Config, 'DATABASE_URL' | 'STATE_DIR'>,
  log: Log,
): Promise<Store> {
  const store =
    config.DATABASE_URL === undefined
      ? await openSqliteStore(config.STATE_DIR)
      : openPostgresStore(config.DATABASE_URL, log)
  try {
    const applied = await migrateStore(store)
    if (applied.length > 0) log.info('store.migrated', { migrations: applied.join(' ') })
  } catch (error) {
    await store.close()
    throw error
  }
  return store
}
