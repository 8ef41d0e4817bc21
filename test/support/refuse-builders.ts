import { registerHooks } from 'node:module'

/** Imported before a program: whatever compiles releases, or comes for development alone, is not there. */
const ABSENT =
  /^(?:astro|@astrojs\/.*|pagefind|gray-matter|markdown-it|yaml|vite|vitest|typescript)(?:\/|$)/

registerHooks({
  resolve(specifier, context, next) {
    if (ABSENT.test(specifier) || specifier.includes('src/compile/'))
      throw new Error(`${specifier} is not there to be loaded (from ${context.parentURL ?? '?'})`)
    return next(specifier, context)
  },
})
