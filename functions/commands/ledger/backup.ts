import { join } from 'node:path'
import { runCommand } from '../../ports/run-main.ts'
import { backupState } from '../../store/sqlite.ts'

/** `npm run backup [-- file]`: copies the SQLite state while the server runs. */
await runCommand(async (config) => {
  if (config.DATABASE_URL !== undefined) {
    throw new Error('The state is in PostgreSQL (DATABASE_URL): back it up with pg_dump.')
  }
  const stamp = new Date().toISOString().replaceAll(':', '').slice(0, 17)
  const target = process.argv[2] ?? join(config.STATE_DIR, 'backups', `waypost-${stamp}.sqlite`)
  await backupState(config.STATE_DIR, target)
  return `backed up to ${target}`
})
