import { registerHooks } from 'node:module'

/** Imported before a program: whatever compiles releases, or comes for development alone, is not there. */
const ABSENT =
  /^(?:astro|@astrojs\/.*|pagefind|gray-matter|markdown-it|yaml|vite|vitest|typescript)(?:\/|$)/

/** A test's own, as the text of an expression. */
const ALSO = process.env.ALSO_ABSENT === undefined ? null : new RegExp(process.env.ALSO_ABSENT)

registerHooks({
  resolve(specifier, context, next) {
    if (
      ABSENT.test(specifier) ||
      ALSO?.test(specifier) ||
      /\bsrc\/(?:build|content|derive)\//.test(specifier)
    )
      throw new Error(`${specifier} is not there to be loaded (from ${context.parentURL ?? '?'})`)
    return next(specifier, context)
  },
})
