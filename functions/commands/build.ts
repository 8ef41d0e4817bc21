import { enableCompileCache } from 'node:module'
import { join } from 'node:path'

/**
 * `npm run build`, see `build-and-publish.ts`. The threads of a build load the same code over and
 * over: what Node made of it is kept for them and for the next build, where it can be.
 */
const CODE_CACHE = join(import.meta.dirname, '../../.cache/code')

process.env.NODE_COMPILE_CACHE ??= CODE_CACHE
enableCompileCache(process.env.NODE_COMPILE_CACHE)
await import('./build-and-publish.ts')
