import { parseConfig } from '../../functions/ports/config.ts'
import { createLog } from '../../functions/ports/log.ts'
import { copyDemoContent } from './demo-content.ts'
import { resetDemoLedger } from './demo-ledger.ts'

/**
 * `npm run demo`: serves the fictional directory of `test/fixtures/demo` from folders of its own, so
 * that every state of every page can be seen: also what sellers did, put back at each start. A banner
 * on each page says that nobody in it exists.
 */
const env = { ...process.env }
const outDir = env.OUT_DIR || '.cache/demo'
// One moment for content and ledger. An earlier one, as of the day, would make checks due late in it.
const now = Date.now()
copyDemoContent('test/fixtures/demo', `${outDir}-content`, now)
Object.assign(process.env, {
  CONTENT_DIR: `${outDir}-content`,
  OUT_DIR: outDir,
  STATE_DIR: env.STATE_DIR || '.cache/demo-state',
  DATABASE_URL: '',
  SMTP_URL: '',
  PORT: env.PORT || '4321',
  BASE_URL: env.BASE_URL || `http://localhost:${env.PORT || '4321'}`,
})
const log = createLog((line) => process.stdout.write(line), Date.now)
await resetDemoLedger(parseConfig(process.env), log, now)
console.log(
  'A seller to sign in as at /sellers: ana@brightwell.example. The link of the mail is printed here.',
)
await import('../../functions/commands/start.ts')
