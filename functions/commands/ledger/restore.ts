import { runCommand } from '../../ports/run-main.ts'
import { restoreState } from '../../store/sqlite.ts'

/** `npm run restore -- file`: puts a backup in place. The server must be stopped. */
await runCommand(async (config) => {
  const source = process.argv[2]
  if (config.DATABASE_URL !== undefined) {
    throw new Error('The state is in PostgreSQL (DATABASE_URL): restore it with pg_restore.')
  }
  if (source === undefined) throw new Error('Expected a backup file: npm run restore -- <file>')
  const kept = await restoreState(config.STATE_DIR, source, Date.now())
  return `restored from ${source}${kept === null ? '' : `; the former state is kept at ${kept}`}`
})
