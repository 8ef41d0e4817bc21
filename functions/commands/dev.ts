import type { IncomingMessage, ServerResponse } from 'node:http'
import { resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { dev } from 'astro'
import { formatFault } from '../../src/compile/content/fault.ts'
import { readContent } from '../../src/compile/content/read-content.ts'
import { compileForPages } from '../../src/compile/pages/compile-for-pages.ts'
import { COMPILED_DIR_VARIABLE } from '../../src/compiled.ts'
import { NO_LEDGER_FACTS } from '../../src/domain/trust/ledger-facts.ts'
import { createService } from '../app/service.ts'
import { parseConfig } from '../ports/config.ts'
import { createLog } from '../ports/log.ts'
import { createPageSearch } from '../search/search-doors.ts'
import { compileWhatIsStale } from './compile-what-is-stale.ts'

/** Where Astro's development server looks for what a page rendered on demand may use. */
const ASTRO_LOCALS = Symbol.for('astro.locals')

/**
 * `npm run dev`: Astro's development server for the pages, with the same functions and files as in
 * production mounted in front of it.
 */
const config = parseConfig(process.env)
const compiledDir = resolve('.cache/compiled')
const { content, faults } = readContent(config.CONTENT_DIR, {
  allowPrivate: config.UNSAFE_ALLOW_PRIVATE_TARGETS,
})
for (const fault of faults) console.log(formatFault(fault, config.CONTENT_DIR))
if (content === null) process.exit(1)
compileForPages({
  content,
  dir: compiledDir,
  baseUrl: config.BASE_URL,
  allowPrivate: config.UNSAFE_ALLOW_PRIVATE_TARGETS,
  ledger: NO_LEDGER_FACTS,
})
process.env[COMPILED_DIR_VARIABLE] = compiledDir
await compileWhatIsStale()
const service = await createService({
  config,
  log: createLog((line) => process.stdout.write(line), Date.now),
})
const search = createPageSearch(service.parts)
await dev({
  root: fileURLToPath(new URL('../..', import.meta.url)),
  server: { host: config.HOST, port: config.PORT },
  integrations: [
    {
      name: 'waypost-functions',
      hooks: {
        'astro:server:setup': ({ server }) => {
          server.middlewares.use(answerWithFunctions)
        },
      },
    },
  ],
})

/** Everything that is no page: the service answers it from the last release and its functions. */
function answerWithFunctions(req: IncomingMessage, res: ServerResponse, next: () => void): void {
  const isOurs = /^\/(?:api|go|badge|pagefind|healthz|readyz|openapi\.json)(?:[/?]|$)/.test(
    req.url ?? '',
  )
  if (isOurs) return void service.server.emit('request', req, res)
  Reflect.set(req, ASTRO_LOCALS, { search, searchChoices: service.parts.release().searchChoices })
  next()
}
