import { join } from 'node:path'
import { close, createIndex } from 'pagefind'

/** Indexes the rendered pages for the search in the browser; writes `pagefind/` into the site. */
export async function indexPages({ siteDir }: { siteDir: string }): Promise<void> {
  const { index, errors } = await createIndex()
  if (index === undefined) throw new Error(`pagefind did not start: ${errors.join('; ')}`)
  const added = await index.addDirectory({ path: siteDir })
  if (added.errors.length > 0)
    throw new Error(`pagefind could not read the pages: ${added.errors.join('; ')}`)
  const written = await index.writeFiles({ outputPath: join(siteDir, 'pagefind') })
  if (written.errors.length > 0)
    throw new Error(`pagefind could not write its index: ${written.errors.join('; ')}`)
  await close()
}
