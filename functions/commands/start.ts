import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/**
 * `npm start`: builds if the release is stale, then serves until SIGTERM. Compiled modules are
 * cached between starts, so everything else is imported after the cache is on.
 */
enableCompileCache()
const { runMain } = await import('../ports/run-main.ts')
const { parseConfig } = await import('../ports/config.ts')
const { OperatorError } = await import('../../src/domain/wire/problems.ts')
await runMain(async () => {
  parseConfig(process.env)
  const build = compileWhatIsStale()
  build.catch(() => undefined)
  // Load the server's code while the build checks whether anything changed.
  const { serve } = await import('./serve-release.ts')
  await serve(() => build)
})

/**
 * Builds a release if the current one is stale or damaged, in a separate process, so that the
 * build's memory does not stay with the server.
 */
async function compileWhatIsStale(): Promise<void> {
  const build = spawn(process.execPath, [join(import.meta.dirname, 'build.ts')], {
    stdio: 'inherit',
  })
  const [code] = await once(build, 'exit')
  if (code !== 0)
    throw new OperatorError('The content could not be compiled; the errors are above.')
}
