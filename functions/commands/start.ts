import { enableCompileCache } from 'node:module'

/**
 * `npm start`: compiles what is stale, then serves until SIGTERM. Compiled modules are kept between
 * starts, so everything else is imported after the cache is on.
 */
enableCompileCache()
const { runMain } = await import('../operations/run-main.ts')
const { compileWhatIsStale } = await import('./serve-release.ts')
const { serve } = await import('./serve-release.ts')
await runMain(() => serve(compileWhatIsStale))
