import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { close, createIndex } from 'pagefind'

/** Only listings are searched; their pages say what of them is (`data-pagefind-body`). */
const LISTING_PAGES = 'listing/**/index.html'

/** Ready-made interfaces that Pagefind writes beside its index; the search page has its own. */
const UNUSED = /^pagefind-(?:ui|modular-ui|component-ui|highlight)\./

/**
 * Indexes the rendered pages for the search in the browser.
 *
 * @throws what Pagefind says when it cannot start, read or write.
 */
export async function indexPages({
  siteDir,
  outputPath,
}: {
  siteDir: string
  outputPath: string
}): Promise<void> {
  const { index, errors } = await createIndex()
  if (index === undefined) throw new Error(`pagefind did not start: ${errors.join('; ')}`)
  const added = await index.addDirectory({ path: siteDir, glob: LISTING_PAGES })
  if (added.errors.length > 0)
    throw new Error(`pagefind could not read the pages: ${added.errors.join('; ')}`)
  const written = await index.writeFiles({ outputPath })
  if (written.errors.length > 0)
    throw new Error(`pagefind could not write its index: ${written.errors.join('; ')}`)
  await close()
  for (const file of readdirSync(outputPath)) if (UNUSED.test(file)) rmSync(join(outputPath, file))
}
