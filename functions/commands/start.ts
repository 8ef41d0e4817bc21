import { enableCompileCache } from 'node:module'

/**
 * `npm start`: compiles what is stale, then serves until SIGTERM. Compiled modules are kept between
 * starts, so everything else is imported after the cache is on.
 */
enableCompileCache()
const { serve } = await import('./serve.ts')
const { ConfigError } = await import('../ports/config.ts')
const { ReleaseError } = await import('../release/load-release.ts')
const { StateError } = await import('../operations/state-lock.ts')
const { SearchIndexError } = await import('../../src/search/index-file.ts')
const OUR_ERRORS = [ConfigError, ReleaseError, SearchIndexError, StateError]
try {
  await serve()
} catch (error) {
  const isOurs = OUR_ERRORS.some((type) => error instanceof type)
  console.error(isOurs && error instanceof Error ? error.message : error)
  process.exitCode = 1
}
