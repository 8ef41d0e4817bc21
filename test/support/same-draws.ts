import { flushCompileCache } from 'node:module'
import fc from 'fast-check'
import { afterAll } from 'vitest'
import { drawsOf } from './long.ts'

/**
 * Properties are tried on the same draws in every run: what fails once must fail for whoever looks
 * into it, and a change must not be refused for a draw that has nothing to do with it. `DRAWS` is
 * another number to draw from, or `random`.
 */
const { DRAWS = '20260115' } = process.env
fc.configureGlobal({
  numRuns: drawsOf(100),
  ...(DRAWS !== 'random' && { seed: Number(DRAWS) }),
})

// Vite writes its own `base` there, and what runs in a test reads it for ours.
if (process.env.BASE_URL === '/') delete process.env.BASE_URL

// Else it is written when this process ends: until then every thread and program reads TypeScript anew.
afterAll(() => flushCompileCache())
