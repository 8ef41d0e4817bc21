import { enableCompileCache } from 'node:module'

/**
 * `npm run serve`: serves the release in `OUT_DIR` until SIGTERM, and any newer release published
 * there. Needs neither the content nor the code that compiles it.
 */
enableCompileCache()
const { runMain } = await import('../ports/run-main.ts')
const { serve } = await import('./serve-release.ts')
await runMain(() => serve())
