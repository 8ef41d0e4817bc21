import { existsSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from '../../ports/config.ts'

export const SQLITE_FILE = 'waypost.sqlite'

/** False before the first server wrote anything down. Asked before what reads a ledger is loaded. */
export function hasLedger(config: Pick<Config, 'DATABASE_URL' | 'STATE_DIR'>): boolean {
  return config.DATABASE_URL !== undefined || existsSync(join(config.STATE_DIR, SQLITE_FILE))
}
